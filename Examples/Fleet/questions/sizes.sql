-- Which images disagree with most others on the size of a service's table, though the version is the same?
WITH services AS (
  SELECT name, attributes->>'version' AS version, table_size, image
  FROM entries
  WHERE release = 'current' AND kind = 'service' AND table_size IS NOT NULL
),
versions AS (
  SELECT name, version, mode(table_size) AS usual FROM services GROUP BY ALL
)
SELECT name, version, table_size, usual, image
FROM services JOIN versions USING (name, version)
WHERE table_size <> usual
ORDER BY ALL;
