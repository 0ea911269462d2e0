// The charts of a study, drawn when they come into view.
(function () {
  "use strict";

  const { settings, load, figure } = window.lapwing;
  const place = document.getElementById("charts");

  async function draw() {
    const charts = await load(settings.charts);
    const seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        const chart = charts[Number(target.dataset.number)];
        target.style.minHeight = "";
        target.append(figure(chart, `${settings.slug}-${target.dataset.number}`).section);
      }
    }, { rootMargin: "400px" });
    charts.forEach((chart, number) => {
      const own = document.createElement("div");
      own.dataset.number = number;
      own.style.minHeight = `${chart.height + 60}px`;
      place.append(own);
      seen.observe(own);
    });
  }

  draw();
})();
