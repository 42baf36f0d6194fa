// Imported by a test, or into a process of one: there, waits of one to ten seconds take a tenth. So a time-out of the broker,
// or the next look at the stream, comes soon, in the same order as in production.

const wait = globalThis.setTimeout
const short = (run: () => void, ms = 0, ...rest: []) => wait(run, ms >= 1_000 && ms <= 10_000 ? ms / 10 : ms, ...rest)
globalThis.setTimeout = Object.assign(short, wait) as typeof setTimeout
