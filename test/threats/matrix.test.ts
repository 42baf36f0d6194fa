import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  allOperations,
  brokerUsers,
  databaseRoles,
  rpcSubject,
  serviceNames,
  servicePermissions,
} from '@backoffice/contracts'
import t from 'tap'
import { answeredCalls, causes, threats } from '../../deploy/threats.ts'
import { root } from '../structure/source-files.ts'

const changes = allOperations.filter(({ kind }) => kind !== 'query')

t.test('each test that a cell names is there', async (t) => {
  const cells = answeredCalls.flatMap(({ answers, denial }) => [answers, denial])
  const named = [
    ...threats.flatMap(({ found, refused }) => [...refused, ...found.flatMap(({ tests }) => tests)]),
    ...cells.flatMap((cell) => ('tests' in cell ? cell.tests : [])),
  ]
  t.ok(named.length > 30)
  t.same(
    named.filter((file) => !existsSync(join(root, file))),
    [],
  )
})

t.test('whoever has a password is in the matrix, and each of their lines is tried', async (t) => {
  const missing = [...brokerUsers, ...databaseRoles].filter((user) => !threats.some(({ who }) => who === user))
  t.same(missing, [])
  for (const { who, refused } of threats) t.ok(refused.length > 0, who)
})

t.test('each operation that changes something says what it causes, and no other does', async (t) => {
  t.same([...causes.keys()].sort(), [...new Set(changes.map(({ id }) => id))].sort())
})

t.test('what a service may call by itself stands in its cells', async (t) => {
  for (const service of serviceNames) {
    const { found = [], accepted = [] } = threats.find(({ who }) => who === service) ?? {}
    const cells = [...found, ...accepted].filter(({ by }) => by === 'broker').flatMap(({ effects }) => effects)
    const may = changes.filter((operation) => servicePermissions(service).publish.includes(rpcSubject(operation)))
    for (const { id } of may) {
      const effect = causes.get(id)
      if (effect !== undefined) t.ok(cells.includes(effect), `${service} calls ${id}: ${effect}`)
    }
  }
})

t.test('each call that a service answers to another says what a false answer causes, and none', async (t) => {
  const internal = allOperations.filter(({ audience }) => audience !== 'team' && audience !== 'public')
  const isIn = (call: string, { service, id }: (typeof internal)[number]) =>
    call === `${service}.${id}` || call === `*.${id}`
  for (const operation of internal) {
    const rows = answeredCalls.filter(({ calls }) => calls.some((call) => isIn(call, operation)))
    t.equal(rows.length, 1, `${operation.service}.${operation.id}`)
  }
  const named = answeredCalls.flatMap(({ calls }) => calls)
  t.same(
    named.filter((call) => !internal.some((operation) => isIn(call, operation))),
    [],
  )
})
