import { operations, Rejection } from '@backoffice/contracts'
import { RpcClient } from '@backoffice/rpc'
import { IdentityRefused } from '@backoffice/team-identity'
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import type { ConsoleContext } from '../context.ts'

/**
 * The identity provider says that somebody was logged out (OpenID Connect Back-Channel Logout 1.0). Its token is passed on as
 * it is: the gateway verifies who signed it, and believes nothing else.
 */
export function registerBackchannel(app: FastifyInstance, { clock, log, nats, verifier }: ConsoleContext): void {
  app.register(async (scope) => {
    await scope.register(formbody)
    scope.post('/backchannel-logout', async (request, reply) => {
      const { logout_token: idToken } = (request.body ?? {}) as { readonly logout_token?: unknown }
      if (typeof idToken !== 'string' || !/^[\w.-]+$/.test(idToken))
        return reply.code(400).send({ error: 'invalid_request' })
      try {
        // What the gateway would not take does not reach the broker.
        await verifier.verifyLogout(idToken, clock.now())
        const rpc = new RpcClient(nats, { sign: async () => ({ idToken, proof: '' }) })
        await rpc.call(operations.gateway.endProviderSession, { input: {} })
        return reply.code(200).send()
      } catch (error) {
        log.warn({ err: error }, 'a logout of the provider was not carried out')
        const isRefused =
          error instanceof IdentityRefused || (error instanceof Rejection && error.code === 'LOGIN_REQUIRED')
        return reply
          .code(isRefused ? 400 : 503)
          .send({ error: isRefused ? 'invalid_request' : 'temporarily_unavailable' })
      }
    })
  })
}
