import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultStackFolder } from './stack-file.ts'

export interface StackArguments {
  readonly dir: string
  /** Of the gateway; 0 takes any free one. */
  readonly port: number
  readonly fresh: boolean
}

export const defaultPort = 8080

export const usage = `npm start -- [--dir D] [--port P] [--fresh]

  --dir D    keep data, logs and stack.json in D (default .stack)
  --port P   serve HTTP on port P of 127.0.0.1 (default ${defaultPort}; 0 takes any free one)
  --fresh    throw away what an earlier start left in D

POSTGRES_URL and NATS_URL use somebody else's PostgreSQL (its superuser) and nats-server (with JetStream).`

/** @throws with the usage when an argument is unknown or not well formed. */
export function parseStackArguments(args: readonly string[]): StackArguments {
  const options = {
    dir: { type: 'string', default: defaultStackFolder },
    port: { type: 'string', default: String(defaultPort) },
    fresh: { type: 'boolean', default: false },
  } as const
  let values: { dir: string; port: string; fresh: boolean }
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`)
  }
  const port = Number(values.port)
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
    throw new Error(`--port takes a number from 0 to 65535, not "${values.port}".\n\n${usage}`)
  }
  return { dir: resolve(values.dir), port, fresh: values.fresh }
}
