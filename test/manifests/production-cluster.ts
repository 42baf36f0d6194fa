import { serviceNames } from '@backoffice/contracts'
import type { Cluster } from './cluster.ts'

/** The programs that have a database. */
export const programs = [...serviceNames, 'games']
/** With the team's console, which has none. */
export const all = [...programs, 'console']

/** The production overlay as it would be applied, and what its tests ask it for. */
export const productionOf = (cluster: Cluster) => ({
  cluster,
  environmentOf: (name: string) => cluster.environment(cluster.container(name).container),
  /** The names that a certificate is made out to. */
  namesOn: (certificate: string): readonly string[] => cluster.find('Certificate', certificate)?.spec.dnsNames ?? [],
})
export type Production = ReturnType<typeof productionOf>
