-- Spans are kept as columns (span_columns.rs) where they were compressed JSON, which took several times as long to read.
-- `lapwing_span_columns` is ours. Spans that are damaged stay as they are: they are named when they are read.

UPDATE span_chunk
   SET data = lapwing_span_columns(data),
       checksum = lapwing_checksum(instance, chunk, first, last, spans, lapwing_span_columns(data))
 WHERE checksum = lapwing_checksum(instance, chunk, first, last, spans, data)
   AND lapwing_span_columns(data) IS NOT NULL;
