import { Command, CommanderError } from 'commander'
import { addAudit } from './commands/audit.ts'
import { addCredentials } from './commands/credentials.ts'
import { addDeliveries } from './commands/deliveries.ts'
import { addDeposits } from './commands/deposits.ts'
import { addEvents } from './commands/events.ts'
import { addGames } from './commands/games.ts'
import { addKyc } from './commands/kyc.ts'
import { addOperators } from './commands/operators.ts'
import { addPlayers } from './commands/players.ts'
import { addSecrets } from './commands/secrets.ts'
import { addStatement } from './commands/statement.ts'
import { addWallet } from './commands/wallet.ts'
import { addWebhook } from './commands/webhook.ts'
import { addWithdrawals } from './commands/withdrawals.ts'
import { printError } from './output.ts'

/** The team's command line, as commands of one program. */
export function program(): Command {
  const root = new Command('team')
  root
    .description(
      "The team's side of the back office: operators, decisions, corrections. Each action is recorded with who, when and why.",
    )
    .showHelpAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      `
Every command takes --json (one JSON document on standard output). Commands that change something take --reason,
--operation-id (a retry with the same id never does it twice) and, where it cannot be undone, --yes.
Who you are is your NATS user: NATS_URL, NATS_USER and NATS_PASSWORD, or a running npm start (--as alice|bob).

Examples:
  npm run team -- operators create --name "Casa Azul" --rate-limit 1200 --allow-ip 203.0.113.0/24
  npm run team -- withdrawals queue
  npm run team -- withdrawals approve wdr_… --reason "documents match"
  npm run --silent team -- operators list --json | jq .`,
    )
  for (const add of [
    addOperators,
    addCredentials,
    addSecrets,
    addKyc,
    addPlayers,
    addGames,
    addDeposits,
    addWithdrawals,
    addWallet,
    addStatement,
    addWebhook,
    addDeliveries,
    addEvents,
    addAudit,
  ]) {
    add(root)
  }
  return root
}

if (import.meta.main) {
  // A reader such as `head` that has seen enough is no fault.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  try {
    await program().parseAsync(process.argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 1
    else {
      printError(error, process.argv.includes('--json'))
      process.exitCode = 1
    }
  }
}
