import { randomUUID } from 'node:crypto'
import type { Scope } from '@backoffice/contracts'
import type { Subject } from '../stack/subject.ts'

const atOnce = 4

/** Operators with one endpoint each: an operator has only one in each environment, so many endpoints need many operators. */
export async function openEndpoints({ team }: Subject, count: number, url: string): Promise<readonly Scope[]> {
  const scopes: Scope[] = []
  let begun = 0
  const open = async () => {
    while (begun < count) {
      begun += 1
      const scope = await team.createOperator(`bench ${randomUUID().slice(0, 13)}`)
      await team.setWebhookUrl(scope, url)
      scopes.push(scope)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, open))
  return scopes
}
