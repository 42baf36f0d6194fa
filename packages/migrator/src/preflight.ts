import { runPreflight } from './preflight-job.ts'

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
process.exitCode = await runPreflight(process.env)
