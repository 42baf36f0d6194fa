import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { ServiceName } from './operation.ts'
import {
  Deposit,
  DepositStatus,
  EnvironmentName,
  Id,
  Kyc,
  KycStatus,
  Timestamp,
  Withdrawal,
  WithdrawalStatus,
} from './resources.ts'

interface EventEntry<Data extends TObject = TObject> {
  readonly summary: string
  readonly description: string
  /** `public` events are delivered to operators; `internal` ones stay between the services. */
  readonly visibility: 'public' | 'internal'
  readonly emittedBy: ServiceName
  readonly data: Data
  readonly example: unknown
}

const entry = <D extends TObject>(event: EventEntry<D>) => event

/** Rises with every change of one record: delivery order is not promised, so a receiver drops what is older than it has. */
const version = Type.Integer({ minimum: 1, description: 'Rises per record; drop an event older than one you have.' })
const closed = { additionalProperties: false } as const

/** Every event kind, its payload and when it is emitted. */
export const events = {
  'kyc.status_changed': entry({
    summary: 'The KYC status of a player changed',
    description: 'Sent when the team, or the sandbox decision route, changes the KYC status of a player.',
    visibility: 'public',
    emittedBy: 'players',
    data: Type.Object({ ...Kyc.properties, previousStatus: KycStatus, version }, closed),
    example: {
      playerId: 'ply_01kaj6dfw0e2x8bxmtpcs8nwfe',
      kycStatus: 'aprovado',
      submissions: [
        {
          id: 'kyc_01kaj6e2v7fbpsp8m0fsfyh2kb',
          documentType: 'rg',
          reference: 'doc-831',
          submittedAt: '2026-03-02T12:00:05.120Z',
        },
      ],
      decidedAt: '2026-03-02T12:01:00.000Z',
      reason: null,
      previousStatus: 'em_analise',
      version: 2,
    },
  }),
  'deposit.confirmed': entry({
    summary: 'A deposit was confirmed',
    description: 'Sent after the wallet was credited: who hears it and reads the wallet sees the money.',
    visibility: 'public',
    emittedBy: 'payments',
    data: Type.Object({ ...Deposit.properties, previousStatus: DepositStatus, version }, closed),
    example: {
      id: 'dep_01kaj6fqs2e1hv2q9rqf3x6t4m',
      playerId: 'ply_01kaj6dfw0e2x8bxmtpcs8nwfe',
      amount: '150.00',
      currency: 'BRL',
      method: 'pix',
      externalReference: 'pay-1001',
      status: 'confirmed',
      failureReason: null,
      createdAt: '2026-03-02T12:02:00.000Z',
      confirmedAt: '2026-03-02T12:02:31.400Z',
      failedAt: null,
      previousStatus: 'pending',
      version: 2,
    },
  }),
  'withdrawal.status_changed': entry({
    summary: 'A withdrawal changed status',
    description: 'Sent for every change of status, cancellation included; the creation itself sends nothing.',
    visibility: 'public',
    emittedBy: 'payments',
    data: Type.Object({ ...Withdrawal.properties, previousStatus: WithdrawalStatus, version }, closed),
    example: {
      id: 'wdr_01kaj6j0a5fz7r6v4n0y2cj3sk',
      playerId: 'ply_01kaj6dfw0e2x8bxmtpcs8nwfe',
      amount: '40.00',
      currency: 'BRL',
      method: 'pix',
      destination: 'ana@example.com',
      status: 'approved',
      reason: null,
      createdAt: '2026-03-02T12:05:00.000Z',
      updatedAt: '2026-03-02T12:09:00.000Z',
      reviewedAt: '2026-03-02T12:09:00.000Z',
      paidAt: null,
      previousStatus: 'under_review',
      version: 2,
    },
  }),
  'webhook.test': entry({
    summary: 'A test delivery',
    description: 'Sent by POST /webhooks/test to validate the URL and the signature check.',
    visibility: 'public',
    emittedBy: 'webhooks',
    data: Type.Object({ message: Type.String() }, closed),
    example: { message: 'This is a test delivery.' },
  }),
} as const

export type EventKind = keyof typeof events
export type EventData<K extends EventKind> = Static<(typeof events)[K]['data']>
export const eventKinds = Object.keys(events) as EventKind[]

/** The envelope of an event: the JetStream message and the body of a webhook are these same bytes. */
export const eventEnvelope = <K extends EventKind>(kind: K) =>
  Type.Object(
    {
      id: Id,
      type: Type.Literal(kind),
      apiVersion: Type.String(),
      environment: EnvironmentName,
      operatorId: Id,
      brandId: Id,
      createdAt: Timestamp,
      data: events[kind].data,
    },
    closed,
  )

export interface EventMessage<K extends EventKind = EventKind> {
  readonly id: string
  readonly type: K
  readonly apiVersion: string
  readonly environment: 'sandbox' | 'production'
  readonly operatorId: string
  readonly brandId: string
  readonly createdAt: string
  readonly data: EventData<K>
}

/** The JetStream stream that keeps every event, and the subject of one kind. */
export const eventStream = 'EVENTS'
export const eventSubject = (kind: EventKind): string => `events.${kind}`
