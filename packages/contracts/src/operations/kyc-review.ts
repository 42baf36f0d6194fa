import { Type } from '@sinclair/typebox'
import { team } from '../operation.ts'
import {
  EnvironmentName,
  Id,
  KycChange,
  KycDecision,
  KycStatus,
  KycSubmission,
  PersonName,
  Reason,
  Timestamp,
} from '../resources.ts'
import { described, Nullable, object, optional, pageOf, text } from '../schema.ts'
import { caseTakenMinutes, everyRole } from '../team.ts'
import { ageOrders, cursorField, operatorNameField, orderField, ownerFields, queueState } from './fields.ts'
import { playerFigures, waitingPeriod } from './figures.ts'
import { TakenCase, TeamSubmission, takenField } from './player-records.ts'

/** How the team reviews identity checks: the queue, who works on what, and the decision. */
export const kycReview = {
  kycQueue: team.query({
    roles: ['compliance', 'support', 'auditor'],
    summary:
      'List the players whose documents wait for a decision, the longest wait first unless another order is asked for',
    body: object({
      ...ownerFields,
      ...waitingPeriod,
      order: orderField(ageOrders),
      after: cursorField,
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(
      object({
        playerId: Id,
        operatorId: Id,
        ...operatorNameField,
        brandId: Id,
        environment: EnvironmentName,
        name: PersonName,
        kycStatus: KycStatus,
        submissions: Type.Integer(),
        latestDocumentType: KycSubmission.properties.documentType,
        latestReference: KycSubmission.properties.reference,
        documentUrl: TeamSubmission.properties.documentUrl,
        waitingSince: Timestamp,
        ...takenField,
      }),
    ),
  }),

  countKycQueue: team.query({
    roles: everyRole,
    summary: 'Count the players whose documents wait for a decision',
    body: object({ environment: ownerFields.environment }),
    reply: queueState({}),
  }),

  ...playerFigures,

  takeKycCase: team.command({
    roles: ['compliance'],
    summary: 'Take an identity check, so that nobody else works on it',
    description: `For ${caseTakenMinutes} minutes, or until it is decided, nobody else can decide it. Taken again, the time begins anew.`,
    body: object({
      playerId: Id,
      takeOver: optional(Type.Boolean(), 'Also from somebody else who has it.'),
      reason: Type.Optional(Reason),
    }),
    reply: object({ playerId: Id, taken: Nullable(TakenCase) }),
    rejects: ['PLAYER_NOT_FOUND', 'KYC_TAKEN'],
  }),

  releaseKycCase: team.command({
    roles: ['compliance'],
    summary: 'Give an identity check back that one has taken',
    body: object({ playerId: Id, reason: Type.Optional(Reason) }),
    reply: object({ playerId: Id, taken: Nullable(TakenCase) }),
    rejects: ['PLAYER_NOT_FOUND', 'KYC_TAKEN'],
  }),

  /** An approval also ends by itself, with its term. */
  decideKyc: team.command({
    roles: ['compliance'],
    alsoByItself: true,
    summary: "Decide a player's identity check",
    description:
      'Refused while somebody else has taken the case: take it over first. Refused too when another submission has arrived.',
    body: object({
      playerId: Id,
      // Not called an id: the audit trail files the decision under its player.
      submission: described(Nullable(Id), 'The latest submission (kyc_…) that was shown; null where there is none.'),
      seen: Nullable(
        object({
          digest: text(43, {
            pattern: '^[\\w-]{43}$',
            description:
              'SHA-256 of the JSON text of [salt, name, masked CPF, masked birth date, documentType, reference, documentUrl without expires and signature], in base64url.',
          }),
        }),
        'What was shown. When it is something else, the call is refused. Null where there is no submission.',
      ),
      status: KycDecision,
      reason: described(Reason, 'Why; the operator reads it with the status.'),
      restsOn: optional(
        Reason,
        'On what an approval rests when its document opens nowhere, since the operator has no address for documents. Needed then; the audit trail keeps it.',
      ),
    }),
    reply: KycChange,
    rejects: ['PLAYER_NOT_FOUND', 'KYC_TAKEN', 'NOT_AS_SEEN', 'VALIDATION_ERROR'],
  }),
}
