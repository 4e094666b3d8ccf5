// anchor
