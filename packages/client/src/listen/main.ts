#!/usr/bin/env node
// backoffice-listen: receives the deliveries of an environment on this machine.
import { parseArgs } from 'node:util'
import { apiVersion } from '../api.ts'
import { keysHelp, listenOptions, optionsHelp, run, secretsInEnvironment, settingsFrom } from './program.ts'

const portDefault = '4242'
const usage = `WEBHOOK_SECRET=whsec_… backoffice-listen [options]

Receives webhooks on this machine, verifies each, and prints it. Deliveries come from outside, so open a way to the
port, for example with a tunnel, and ask for its https address to be the URL of your sandbox. Where a secret is being
changed, WEBHOOK_SECRET takes both, with a comma between them.

${optionsHelp.replace('of 127.0.0.1', `of 127.0.0.1 (default ${portDefault})`)}
  --version          print the release of this program

${keysHelp}`

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { ...listenOptions, version: { type: 'boolean', default: false } } })
  if (values.help) return void process.stdout.write(`${usage}\n`)
  if (values.version) return void process.stdout.write(`${apiVersion}\n`)
  const secrets = secretsInEnvironment()
  if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set: it is the whsec_… of your environment')
  await run({
    settings: settingsFrom({ port: portDefault, ...values }),
    secrets,
    async attach(url) {
      process.stdout.write(`Listening on ${url}. r sends the last event again, Ctrl-C ends.\n`)
      return async () => {}
    },
  })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
