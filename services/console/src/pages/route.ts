import type { FastifyReply } from 'fastify'
import type { ConsoleContext } from '../http/app.ts'
import type { Visit } from './visit.ts'

export type Handler = (visit: Visit) => FastifyReply | Promise<FastifyReply>

/** Adds pages. Forms are sent with POST, and carry the CSRF token of their session. */
export interface Route {
  get(path: string, handler: Handler): unknown
  post(path: string, handler: Handler): unknown
}

export type Pages = (route: Route, context: ConsoleContext) => void
