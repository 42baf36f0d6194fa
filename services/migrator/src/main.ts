// Before anything is loaded: as process 1 of a container it would otherwise not hear them until it has started. Each
// migration is one transaction, or may be run again: what is cut short did nothing. So is each change of the stream.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

const { bePatient } = await import('@backoffice/process')
const { runMigrationJob } = await import('./migration-job.ts')
bePatient(process.env)
process.exitCode = await runMigrationJob(process.env)
