import type { Case, Group } from '../case.ts'
import { post } from '../load/operator.ts'
import { measureLoad } from '../measure.ts'

const clients = 32

/**
 * The cost of a claim alone. An invalid body is refused after its key was claimed, and the refusal is stored under the key,
 * so only the gateway has work to do.
 */
export const claims: Group = {
  name: 'claims',
  needs: ['plain', 'filled'],
  takesOpenLoop: false,
  async prepare({ options, systems }) {
    const amongMany = systems.filled.map((subject) => ({ subject, id: 'claims-among-many', beside: options.claims }))
    const amongNone = systems.plain.map((subject) => ({ subject, id: 'claims-among-none', beside: 0 }))
    return [...amongNone, ...amongMany].map(
      ({ subject, id, beside }): Case => ({
        id,
        title: `claim, ${clients} clients, beside ${beside} stored claims`,
        column: subject.column,
        shows: 'perSecond',
        measure: () =>
          measureLoad({ options, clients, processes: () => subject.stack.processes() }, async (client, load) => {
            await subject.operator.measured(client, load, post('/players', {}), 422)
          }),
      }),
    )
  },
}
