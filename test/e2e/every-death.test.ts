// proof: every death of which exactly-once.test.ts draws a third.

process.env.EVERY_CASE = 'true'
await import('./exactly-once.test.ts')
