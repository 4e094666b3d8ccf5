-- The audit as tables; the other questions ask these. A host is the folder that its libraries are in.
CREATE VIEW files AS
SELECT
  *,
  regexp_extract(path, '([^/]+)/[^/]+$', 1) AS host,
  regexp_extract(path, '[^/]+/[^/]+$') AS image
FROM read_parquet('*/*.parquet');

CREATE VIEW entries AS
SELECT release, host, image, id, unnest(records, recursive := true) FROM files;
