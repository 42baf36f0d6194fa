/** How long a demonstration may be played. */
export const demoSessionMs = 3_600_000
/** Fictitious, in minor units: 1,000.00. */
export const demoStartBalance = 100_000n
