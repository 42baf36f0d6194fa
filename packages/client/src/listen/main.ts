#!/usr/bin/env node
// backoffice-listen: receives the deliveries of an environment on this machine.
import { BackOfficeClient } from '../client.ts'
import { keysHelp, optionsHelp, runProgram, secretsInEnvironment, triggerHelp } from './program.ts'

const port = '4242'
const usage = `WEBHOOK_SECRET=whsec_… backoffice-listen [options]

Receives webhooks on this machine, verifies each, and prints it. Deliveries come from outside, so open a way to the
port, for example with a tunnel, and ask for its https address to be the URL of your sandbox. Where a secret is being
changed, WEBHOOK_SECRET takes both, with a comma between them.

${optionsHelp.replace('of 127.0.0.1', `of 127.0.0.1 (default ${port})`)}
  --version          print the release of this program

${keysHelp}

${triggerHelp(', at BASE_URL with OPERATOR_KEY and OPERATOR_SECRET')}`

/** @throws it is not set */
function variable(name: string): string {
  const { [name]: value = '' } = process.env
  if (value === '') throw new Error(`${name} is not set`)
  return value
}

await runProgram({
  ...{ usage, port },
  client() {
    const [key, secret] = [variable('OPERATOR_KEY'), variable('OPERATOR_SECRET')]
    return new BackOfficeClient({ baseUrl: variable('BASE_URL'), key, secret })
  },
  secrets() {
    const secrets = secretsInEnvironment()
    if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set: it is the whsec_… of your environment')
    return secrets
  },
  async attach(url) {
    process.stdout.write(`Listening on ${url}. r sends the last event again, Ctrl-C ends.\n`)
    return async () => {}
  },
})
