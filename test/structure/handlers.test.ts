import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { root } from './source-files.ts'

/** Handlers and an entry in which one field is missing, each on a line of its own, and what its name is. */
const wrong: readonly (readonly [missing: string, code: string])[] = [
  ['withdrawable', `handle(wallet.getWallet, { read: async (calls) => calls.map(() => ({ ...wholeWallet })) })`],
  ['updatedAt', `handle(wallet.readAccount, async () => ({ available: '0.00', withdrawable: '0.00' }))`],
  ['transferId', `handle(wallet.creditAccount, async () => ({}))`],
  ['state', `handle(wallet.declineProposal, { execute: async () => ({ proposalId: 'prp_1' }) })`],
  [
    'kycStatus',
    `handle(players.submitKyc, {
      apart: () => [], load: async (calls) => calls.map(() => 1), save: () => [],
      decide: (_, state) => ({ reply: { submission }, change: state.toFixed() }),
    })`,
  ],
  ['amount', `operator.query({ summary: '', reply: Type.Object({ amount: Type.String() }), example: { reply: {} } })`],
  [
    'depositId',
    `operator.query({ summary: '', params: DepositPath, reply: Type.Object({}), example: { params: {} } })`,
  ],
]

const before = `
import { operations, operator, Wallet } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { type Static, Type } from '@sinclair/typebox'
const { wallet, players } = operations
const submission = { id: '', documentType: '', reference: '', submittedAt: '' }
const DepositPath = Type.Object({ depositId: Type.String() })
const wholeWallet: Omit<Static<typeof Wallet>, 'withdrawable'> = { playerId: '', currency: '', available: '', updatedAt: '' }
`

t.test('what is missing in a handler or an example is named by the compiler', async (t) => {
  // Inside of the repository, so that packages are found.
  const folder = `${root}.cache/handlers`
  mkdirSync(folder, { recursive: true })
  const lines = wrong.map(([, code], index) => `export const wrong${index} = ${code.replaceAll(/\s+/g, ' ')}`)
  writeFileSync(`${folder}/snippet.ts`, [before.replaceAll('\n', ';').slice(1), ...lines].join('\n'))
  writeFileSync(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      extends: '../../tsconfig.base.json',
      files: ['snippet.ts'],
      compilerOptions: { types: ['node'] },
    }),
  )
  const messages = await tsc(folder)
  for (const [index, [missing]] of wrong.entries()) {
    const message = messages.get(index + 2) ?? ''
    t.match(message, `Property '${missing}' is missing`, `${missing} is named`)
    t.notMatch(message, 'overload', 'and no overload is explained')
  }
  t.equal(messages.size, wrong.length, 'and nothing else is wrong')
})

/** @returns what the compiler says of each line of the snippet */
function tsc(folder: string): Promise<ReadonlyMap<number, string>> {
  const args = [`${root}node_modules/typescript/bin/tsc`, '--project', folder, '--pretty', 'false']
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 10_000_000 }, (_, said) => {
      const found = said.split(/^(?=\S)/m).map((message) => [Number(/\((\d+),/.exec(message)?.[1]), message] as const)
      resolve(new Map(found.filter(([, message]) => message !== '')))
    })
  })
}
