import { exampleOf } from '../lists.ts'
import { type Addition, compiler } from './addition.ts'

const list = 'Add an endpoint'
const entries = 'packages/contracts/src/operations/payments.ts'
const handler = 'services/payments/src/deposits/get-deposit.ts'
const handlers = 'services/payments/src/operations.ts'
const ownTest = 'services/payments/test/deposits/get-deposit.test.ts'
const routesTest = 'packages/contracts/test/operations.test.ts'
const permissionsTest = 'test/structure/generated-files.test.ts'
const namesTest = 'test/structure/names.test.ts'
const documentsTest = 'packages/documents/test/documents.test.ts'
const typesTest = 'packages/client/test/types.test.ts'
const methodsTest = 'packages/client/test/methods.test.ts'

/** `GET /deposits/{depositId}`, whose entry is the example in CONTRIBUTING.md. */
export const endpoint: Addition = {
  list,
  edits: [
    { row: 1, file: entries, before: '  confirmDeposit: operator.command({\n', insert: `${exampleOf(list)}\n` },
    {
      row: 2,
      file: routesTest,
      before: "      'POST /deposits/{depositId}/confirm',\n",
      insert: "      'GET /deposits/{depositId}',\n",
    },
    {
      row: 3,
      file: handler,
      create: `import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { inOrder, ofBrand } from '../records.ts'
import { findDeposits } from './records.ts'
import { publicDeposit, shownDeposits } from './views.ts'

export const getDeposit = handle(operations.payments.getDeposit, {
  async read(calls, { db }) {
    const ids = calls.map(({ input }) => input.depositId)
    const shown = inOrder(ids, await shownDeposits(db, await findDeposits(db, ids)))
    return calls.map(({ scope }, index) => {
      const deposit = ofBrand(shown[index], scope.brandId)
      return deposit === undefined ? new Rejection('DEPOSIT_NOT_FOUND') : publicDeposit(deposit)
    })
  },
})
`,
    },
    {
      row: 4,
      file: handlers,
      before: 'import { createDeposit, ',
      insert: "import { getDeposit } from './deposits/get-deposit.ts'\n",
    },
    { row: 4, file: handlers, before: '  confirmDeposit,\n', insert: '  getDeposit,\n' },
    {
      row: 5,
      file: ownTest,
      create: `import { operations } from '@backoffice/contracts'
import { refusal } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const path = await moneyPath(t)
const read = (depositId: string, scope = path.scope) =>
  path.bed.rpc.call(operations.payments.getDeposit, { scope, input: { depositId } })

t.test('a deposit is read as it is: pending, then confirmed', async (t) => {
  const pending = await path.createDeposit(await path.newPlayer({ kyc: false }))
  t.same(await read(pending.id), pending)
  const confirmed = await path.confirm(pending.id)
  t.same(await read(pending.id), confirmed)
})

t.test("an unknown deposit, or another brand's, is DEPOSIT_NOT_FOUND", async (t) => {
  const { id } = await path.createDeposit(await path.newPlayer({ kyc: false }))
  t.equal(await refusal(read('dep_unknown')), 'DEPOSIT_NOT_FOUND')
  t.equal(await refusal(read(id, path.bed.scope({ environment: 'production' }))), 'DEPOSIT_NOT_FOUND')
})
`,
    },
    {
      row: 7,
      file: 'packages/documents/src/postman.ts',
      after: "      { operationId: 'confirmDeposit' },\n",
      insert: "      { operationId: 'getDeposit' },\n",
    },
    {
      row: 9,
      file: 'packages/client/src/client.ts',
      before: '  confirmDeposit(depositId: string,',
      insert: `  getDeposit(depositId: string, options?: RequestOptions): ApiCall<Deposit> {
    return this.#routes.get('/deposits/{depositId}', { path: { depositId } }, options)
  }

`,
    },
    {
      row: 9,
      file: methodsTest,
      before: '  confirmDeposit: (client,',
      insert: '  getDeposit: (client, { params }) => client.getDeposit(params.depositId),\n',
    },
    {
      row: 10,
      file: 'CHANGELOG.md',
      after: '## Unreleased\n\n',
      insert: '### Added\n\n- `GET /deposits/{depositId}` reads a deposit.\n\n',
    },
  ],
  spared: [11, 12, 13, 14],
  tests: [
    routesTest,
    permissionsTest,
    namesTest,
    documentsTest,
    'packages/documents/test/compatibility.test.ts',
    typesTest,
    methodsTest,
    ownTest,
  ],
  slips: [
    { row: 2, slip: 'left out', toldBy: routesTest, says: /GET \/deposits\/\{depositId\}/ },
    { row: 3, slip: 'left out', toldBy: compiler, says: /operations\.ts.* '\.\/deposits\/get-deposit\.ts'/ },
    {
      row: 3,
      slip: 'done wrong',
      file: handler,
      replace: 'export const getDeposit = ',
      by: 'export const readDeposit = ',
      toldBy: compiler,
      says: /operations\.ts.*getDeposit/,
    },
    { row: 4, slip: 'left out', toldBy: compiler, says: /operations\.ts(?=.*missing).*getDeposit/ },
    { row: 6, slip: 'left out', toldBy: permissionsTest, says: /rpc\.payments\.getDeposit/ },
    { row: 7, slip: 'left out', toldBy: documentsTest, says: /not ok .* \/deposits\/\{depositId\}/ },
    { row: 8, slip: 'left out', toldBy: typesTest, says: /npm run generate/ },
    { row: 9, slip: 'left out', toldBy: methodsTest, says: /"getDeposit"/ },
    {
      row: 9,
      slip: 'done wrong',
      file: 'packages/client/src/client.ts',
      replace: "get('/deposits/{depositId}'",
      by: "get('/deposits/{depositId}/confirm'",
      toldBy: compiler,
      says: /client\.ts.* '"\/deposits\/\{depositId\}\/confirm"'/,
    },
  ],
}
