// Calls between programs over NATS request/reply, for who makes them and who serves them. It loads nothing of a database.
export { type AroundCall, type CallOptions, RpcClient, type RpcClientOptions, repliesOver } from './client.ts'
export { connectNats, type NatsConfig, natsSettings } from './connect.ts'
export { askJetStream, differencesFrom, type JetStreamInfo } from './jetstream.ts'
export {
  contextOf,
  extractTrace,
  inContextOf,
  injectTrace,
  inputSchema,
  readMessage,
  traceparentOf,
  validate,
  validateAsReader,
  validateAsWritten,
} from './message.ts'
export {
  type Admit,
  ownerOf,
  type ReceivedCall,
  RpcServer,
  type RunResult,
  type ServedOperation,
  type TeamCall,
} from './server.ts'
