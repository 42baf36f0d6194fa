// proof: every moment of which crash-points.test.ts draws a third.

process.env.EVERY_CASE = 'true'
await import('./crash-points.test.ts')
