/** What a person of the service's own team may do. The identity provider's groups say who has which. */
export const teamRoles = ['compliance', 'finance', 'integration', 'support', 'auditor'] as const
export type TeamRole = (typeof teamRoles)[number]

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

/** Who somebody of the team is. */
export interface Who {
  /**
   * Of a person, the identity provider and the account there: `iss` and `sub`, with a space between. Of a machine, `machine`
   * and its name. It stays the same when the name is changed.
   */
  readonly id: string
  /** For people to read, as the identity provider says it, in one way to write it: see `readableName`. */
  readonly name: string
}

/** A public key to which the reply to one call is sealed (P-256). All browsers make such keys, so all do. */
export interface ReplyKey {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/** A call of the team, as its person signs it. */
export interface CallToProve {
  /** The service and the operation, such as `payments.decideWithdrawal`. */
  readonly operation: string
  readonly operationId: string
  readonly input: unknown
  /** The proposal of somebody else that the call carries out. */
  readonly approves?: string
  /** To which the reply is sealed, where it has what is shown once or masked otherwise. */
  readonly sealTo?: ReplyKey
}

/** What goes with a call: who the person is, and that it is this person's call. */
export interface Proof {
  /** As the identity provider issued it. Undefined for a machine. */
  readonly idToken: string | undefined
  /** A JWS in its compact form, signed with the key of the session. */
  readonly proof: string
}

/** Signs the calls of one person or machine. */
export interface TeamSigner {
  sign(call: CallToProve): Promise<Proof>
}

/** Who of the team calls, as it was proven. */
export interface TeamCaller extends Who {
  readonly kind: 'person' | 'machine'
  readonly roles: ReadonlySet<TeamRole>
  /** The thumbprint of the session's key; of a machine, of its own key. */
  readonly session: string
  /** When the person proved who they are at the identity provider. Undefined for a machine. */
  readonly loggedInAt: Date | undefined
  /** What their login lacks of a strong one: by claim, what the ID token was to say. Undefined where nothing does, and for a machine. */
  readonly lacking: Readonly<Record<string, readonly string[]>> | undefined
  /** When the provider certified the session's key; of a machine, when it signed this call. */
  readonly issuedAt: Date
  /** The provider's own name of its session (`sid`), where it gives one. */
  readonly providerSession: string | undefined
  readonly tool: TeamTool
  /** The session's key has not signed the call: it lets the key that did read in the person's name. */
  readonly delegated: boolean
  /** To which the person has the reply sealed. */
  readonly sealTo: ReplyKey | undefined
  /** What proved it. */
  readonly evidence: Proof
  /**
   * The public key that all of it rests on: the provider's, which signed the ID token; of a machine, its own. It is kept
   * with the session, because the provider may have another one when somebody wants to see the proof.
   */
  readonly anchor: object
}
