// proof: every death and every random run, of which exactly-once.test.ts and hostile.test.ts try a third.

process.env.EVERY_CASE = 'true'
await import('./exactly-once.test.ts')
await import('./hostile.test.ts')
