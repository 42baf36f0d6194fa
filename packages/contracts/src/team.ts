/** What a person of the service's own team may do. The identity provider's groups say who has which. */
export const teamRoles = ['compliance', 'finance', 'integration', 'support', 'auditor'] as const
export type TeamRole = (typeof teamRoles)[number]

/** Everybody of the team. */
export const everyRole: readonly TeamRole[] = teamRoles

/** Who may read in full, of one player and for a reason, what is masked: who decides about players, pays or audits. */
export const unmaskRoles: readonly TeamRole[] = ['compliance', 'finance', 'auditor']

/** For whom links to identity documents are made: who decides about them, and who audits that. */
export const documentRoles: readonly TeamRole[] = ['compliance', 'auditor']

/** Where somebody of the team works: what the audit trail says about how an action came. */
export const teamTools = ['console', 'command line', 'program'] as const
export type TeamTool = (typeof teamTools)[number]

/**
 * The headers that say who of the team calls. The ID token names a person and certifies the key of their session; the
 * proof is signed with that key. A machine has no ID token.
 */
export const teamHeaders = { idToken: 'Team-Id-Token', proof: 'Team-Proof' } as const

/** How long an identity check counts as taken by the person who took it. */
export const caseTakenMinutes = 30

/** A limit on what one person may do alone for a player holds for the sum of this time. */
export const aloneHours = 24

/** How old a login may be for an operation that wants a fresh one. */
export const freshLoginMinutes = 5

/** How long a proposal waits for a second person. */
export const proposalHours = 24
