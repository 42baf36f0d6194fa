import type { Audience, Operation, OperationEntry, OperationKind, ServiceName } from './operation.ts'
import { runtimeEntries } from './operations/runtime.ts'

type OperationsOf<Entries> = {
  readonly [Id in keyof Entries & string]: Entries[Id] extends OperationEntry<
    infer Kind,
    infer P,
    infer Q,
    infer B,
    infer R,
    infer For
  >
    ? Operation<Id, Kind, P, Q, B, R, For>
    : never
}

/** A service's table: the operations that it declares, and those that every service has. */
export type ServiceTable<Entries> = OperationsOf<Entries & typeof runtimeEntries>

/**
 * Builds the table of one service: the key of an entry is the operation's id, and readers meet the operations in the
 * order of the keys.
 */
export function service<
  // The constraint names no more of an entry than this. Other types named here would be inferred for schemas that an
  // entry leaves out.
  const Entries extends Readonly<Record<string, { readonly kind: OperationKind; readonly audience: Audience }>>,
>(name: ServiceName, entries: Entries): ServiceTable<Entries> {
  const table = Object.entries({ ...entries, ...runtimeEntries }).map(([id, entry]) => [
    id,
    { ...entry, id, service: name, ...(isOfOperators(name, entry) ? {} : { callers: [] }) },
  ])
  return Object.fromEntries(table) as ServiceTable<Entries>
}

/** No request of an operator reaches the reconciler, so no other service has anything to ask of it. */
const isOfOperators = (name: ServiceName, { audience }: { readonly audience: Audience }): boolean =>
  name !== 'reconciler' || audience !== 'internal'
