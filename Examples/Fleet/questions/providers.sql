-- Who provides Greeter, in which versions?
SELECT attributes->>'version' AS version, implementation, table_size, count(*) AS images
FROM entries
WHERE release = 'current' AND kind = 'service' AND name = 'Greeter'
GROUP BY ALL
ORDER BY ALL;
