"""A plain HTTP server that keeps what is PUT, in memory, and can be made to misbehave."""

import base64
import datetime
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Server:
    def __init__(self):
        self.objects = {}
        #: Every request, as method and path.
        self.requests = []
        #: What every request said of who asks.
        self.authorizations = []
        #: Whether `If-None-Match: *` keeps what is there.
        self.conditional = True
        #: Answers to give instead of doing anything, and answers to give after having done it.
        self.refusals, self.lies = [], []
        #: How often a page repeats that there is nothing.
        self.verbosity = 1
        #: How many segments come without their end.
        self.cuts = 0
        #: User and password that it wants.
        self.login = None
        #: Where everything has moved to.
        self.moved_to = None
        #: What has to stand behind `?`.
        self.query = None
        self.lock = threading.Lock()
        handler = type("Handler", (Handler,), {"kept": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def with_tls(self, folder):
        """Speaks TLS from now on; the certificate of the authority that vouches for it."""
        authority, certificate = folder / "authority.pem", folder / "server.pem"
        authority.write_bytes(vouch(certificate))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = self.url.replace("http:", "https:").replace("127.0.0.1", "localhost")
        return authority

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, content=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def handle_with(self, action):
        length = int(self.headers.get("Content-Length", 0))
        content = self.rfile.read(length)
        path, _, query = self.path.partition("?")
        with self.kept.lock:
            self.kept.requests.append((self.command, self.path))
            self.kept.authorizations.append(self.headers.get("Authorization"))
            if self.kept.refusals:
                return self.answer(self.kept.refusals.pop(0))
            if self.kept.moved_to:
                return self.answer(307, Location=self.kept.moved_to + path)
            if self.kept.query is not None and query != self.kept.query:
                return self.answer(403)
            if self.kept.login:
                wanted = "Basic " + base64.b64encode(self.kept.login.encode()).decode()
                if self.headers.get("Authorization") != wanted:
                    return self.answer(401)
            status, answer = action(path, content)
            if self.kept.lies:
                status = self.kept.lies.pop(0)
        return self.answer(status, answer)

    def do_GET(self):
        def give(path, _):
            content = self.kept.objects.get(path)
            if content is None:
                return 404, b"<html>none</html>" * self.kept.verbosity
            if path.endswith(".gz") and self.kept.cuts > 0:
                self.kept.cuts -= 1
                return 200, content[: len(content) // 2]
            return 200, content

        self.handle_with(give)

    def do_PUT(self):
        def keep(path, content):
            there = path in self.kept.objects
            if there and self.kept.conditional and self.headers.get("If-None-Match") == "*":
                return 412, b""
            self.kept.objects[path] = content
            return (204 if there else 201), b""

        self.handle_with(keep)


def vouch(path):
    """Writes key and certificate of a server on this machine; the certificate of who vouches for it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("authority", "localhost")]
    certificates = []
    for name, key, is_authority in zip(names, keys, (True, False)):
        builder = x509.CertificateBuilder(
            issuer_name=names[0],
            subject_name=name,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - datetime.timedelta(hours=1),
            not_valid_after=now + datetime.timedelta(days=1),
        ).add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        if not is_authority:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        certificates.append(builder.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    path.write_bytes(
        keys[1].private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + certificates[1]
    )
    return certificates[0]
