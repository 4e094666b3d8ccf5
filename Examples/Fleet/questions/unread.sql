-- Which files could not be read, or not wholly?
SELECT problem.code AS code, count(DISTINCT image) AS files, min(image) AS first
FROM (SELECT image, unnest(problems) AS problem FROM files)
GROUP BY ALL
ORDER BY ALL;
