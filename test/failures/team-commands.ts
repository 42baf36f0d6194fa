import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { seenWithdrawal } from '@backoffice/test-kit'
import {
  deliveredEvent,
  newDeposit,
  newEndpoint,
  newOperator,
  newPlayer,
  newWithdrawal,
  proposalToEnd,
  reason,
  setAsideEvent,
  stuckCredit,
} from './records.ts'
import type { Command } from './world.ts'

const { gateway, players, wallet, payments, webhooks } = operations
const others = ['players', 'wallet', 'payments', 'webhooks']

export const teamCommands: readonly Command[] = [
  ...(['pay', 'fail'] as const).map(
    (decision): Command => ({
      operation: payments.decideWithdrawal,
      decision,
      prepare: async (world) => {
        const seen = await seenWithdrawal(world.bed.team('alice'), await newWithdrawal(world, { approved: true }))
        const input = { ...seen, decision }
        return (key) => world.team(payments.decideWithdrawal, input, key)
      },
    }),
  ),
  {
    operation: payments.endCommand,
    prepare: async (world) => {
      const depositId = await newDeposit(world, await newPlayer(world))
      const commandId = newId('cmd')
      const input = { commandId, reason }
      let made: Promise<string> | undefined
      return async (key) => {
        // Made when the command is first sent, because nothing may be stuck before.
        made ??= stuckCredit(world, { depositId, id: commandId }).then(() => proposalToEnd(world, input))
        return world.approve(payments.endCommand, input, { approves: await made, operationId: key })
      }
    },
  },
  {
    operation: wallet.adjustWallet,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(wallet.adjustWallet, { playerId, amount: '1.00', reference: key, reason }, key)
    },
  },
  {
    operation: wallet.reverseTransfer,
    prepare: async (world) => {
      const input = { playerId: await newPlayer(world), amount: '1.00', reference: randomUUID(), reason }
      const { transferId } = await world.team(wallet.adjustWallet, input)
      return (key) => world.team(wallet.reverseTransfer, { transferId, reference: key, reason }, key)
    },
  },
  {
    operation: players.decideKyc,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.decideKyc, { playerId, submission: null, status: 'aprovado', reason }, key)
    },
  },
  {
    operation: players.releaseKycCase,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      await world.team(players.takeKycCase, { playerId })
      return (key) => world.team(players.releaseKycCase, { playerId }, key)
    },
  },
  {
    operation: players.setPlayerStatus,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.setPlayerStatus, { playerId, status: 'bloqueado', reason }, key)
    },
  },
  {
    operation: players.selfExcludePlayer,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.selfExcludePlayer, { playerId, until: null }, key)
    },
  },
  {
    operation: players.setDailyLimit,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      return (key) => world.team(players.setDailyLimit, { playerId, dailyDepositLimit: '50.00' }, key)
    },
  },
  {
    operation: players.anonymisePlayer,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      await world.team(players.setPlayerStatus, { playerId, status: 'encerrado', reason })
      return (key) => world.team(players.anonymisePlayer, { playerId, reason }, key)
    },
  },
  {
    operation: players.setDocumentUrl,
    prepare: async (world) => {
      const template = 'https://kyc.example/documents/{reference}'
      const input = { operatorId: `op_${randomUUID()}`, environment: 'sandbox' as const, template, reason }
      return (key) => world.team(players.setDocumentUrl, input, key)
    },
  },
  {
    operation: players.setGameAvailability,
    prepare: async (world) => {
      const input = { brandId: `brd_${randomUUID()}`, gameId: 'lucky-tiger', available: false, reason }
      return (key) => world.team(players.setGameAvailability, input, key)
    },
  },
  {
    operation: gateway.createOperator,
    leaves: {
      tables: ['webhooks.endpoint', 'webhooks.secret', ...others.map((service) => `${service}.brand`)],
      because: 'they belong to an operator id that was never given to anybody',
    },
    prepare: async (world) => {
      const input = { name: randomUUID() }
      return (key) => world.team(gateway.createOperator, input, key)
    },
  },
  {
    operation: gateway.activateOperator,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      await world.team(gateway.suspendOperator, { operatorId, reason })
      return (key) => world.team(gateway.activateOperator, { operatorId, reason }, key)
    },
  },
  {
    operation: gateway.setOperatorLimits,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      return (key) => world.team(gateway.setOperatorLimits, { operatorId, rateLimitPerMinute: 7, reason }, key)
    },
  },
  {
    operation: gateway.setReplayProtection,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      return (key) => world.team(gateway.setReplayProtection, { operatorId, replayProtection: 'on', reason }, key)
    },
  },
  {
    operation: gateway.issueCredential,
    prepare: async (world) => {
      const { operatorId, environment } = await newOperator(world)
      return (key) => world.team(gateway.issueCredential, { operatorId, environment, reason }, key)
    },
  },
  {
    decision: 'approved by a second person',
    operation: gateway.issueCredential,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      const input = { operatorId, environment: 'production', reason } as const
      const approves = await world.propose(gateway.issueCredential, input)
      return (key) => world.approve(gateway.issueCredential, input, { approves, operationId: key })
    },
  },
  {
    operation: gateway.declineProposal,
    prepare: async (world) => {
      const { operatorId } = await newOperator(world)
      const input = { operatorId, environment: 'production', reason } as const
      const proposalId = await world.propose(gateway.issueCredential, input)
      return (key) => world.team(gateway.declineProposal, { proposalId, reason }, key)
    },
  },
  {
    operation: gateway.revokeCredential,
    prepare: async (world) => {
      const { operatorId, environment, key: credential } = await newOperator(world)
      await world.team(gateway.issueCredential, { operatorId, environment })
      return (key) => world.team(gateway.revokeCredential, { key: credential, reason }, key)
    },
  },
  {
    operation: webhooks.setWebhookUrl,
    prepare: async (world) => {
      const { operatorId, environment } = await newOperator(world)
      const input = { operatorId, environment, url: 'http://127.0.0.1:9/hook' }
      return (key) => world.team(webhooks.setWebhookUrl, input, key)
    },
  },
  {
    operation: webhooks.rotateWebhookSecret,
    prepare: async (world) => {
      const input = await newEndpoint(world)
      return (key) => world.team(webhooks.rotateWebhookSecret, input, key)
    },
  },
  {
    operation: webhooks.disableWebhook,
    prepare: async (world) => {
      const input = { ...(await newEndpoint(world)), reason }
      return (key) => world.team(webhooks.disableWebhook, input, key)
    },
  },
  {
    operation: webhooks.resendDelivery,
    prepare: async (world) => {
      const { id } = await deliveredEvent(world)
      return (key) => world.team(webhooks.resendDelivery, { id }, key)
    },
  },
  {
    operation: webhooks.replayEvents,
    prepare: async (world) => {
      const { since } = await deliveredEvent(world)
      const { operatorId } = world.scope
      const input = { operatorId, environment: 'sandbox' as const, since, states: ['delivered' as const] }
      return (key) => world.team(webhooks.replayEvents, input, key)
    },
  },
  {
    operation: webhooks.rerunSetAside,
    prepare: async (world) => {
      let made: Promise<void> | undefined
      return async (key) => {
        // Set aside when the command is first sent, because nothing may be stuck before.
        made ??= setAsideEvent(world)
        await made
        return world.team(webhooks.rerunSetAside, { reason }, key)
      }
    },
  },
]
