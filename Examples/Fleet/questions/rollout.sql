-- What would the roll-out of `next` add or break, and on how many hosts?
WITH hosts AS (
  SELECT DISTINCT host FROM files WHERE release = 'next'
),
before AS (
  SELECT * FROM entries SEMI JOIN hosts USING (host) WHERE release = 'current'
),
-- A new image takes the place of the one of its name; the others stay.
after AS (
  SELECT * FROM entries WHERE release = 'next'
  UNION ALL
  SELECT * FROM before ANTI JOIN (SELECT image FROM files WHERE release = 'next') USING (image)
),
required AS (
  SELECT host, name, unnest(from_json(attributes->'requires', '["VARCHAR"]')) AS needed
  FROM after
  WHERE kind = 'module'
),
changes AS (
  SELECT 'adds' AS change, kind, name, 'version ' || (attributes->>'version') AS what, host
  FROM after ANTI JOIN before USING (host, kind, name)
  UNION ALL
  SELECT 'breaks', kind, name, 'no library has it any more', host
  FROM before ANTI JOIN after USING (host, kind, name)
  UNION ALL
  SELECT 'breaks', after.kind, name, 'its table shrinks to ' || after.table_size || ' bytes', host
  FROM after JOIN before USING (host, kind, name)
  WHERE after.table_size < before.table_size
  UNION ALL
  SELECT 'breaks', 'module', name, 'requires ' || needed || ', which no library has', host
  FROM required
  WHERE NOT EXISTS (
    FROM after WHERE after.kind = 'module' AND after.host = required.host AND after.name = needed
  )
)
SELECT change, kind, name, what, count(DISTINCT host) AS hosts
FROM changes
GROUP BY ALL
ORDER BY ALL;
