// The broker alone, for what only calls services or keeps the stream: the team's command line, the console, the keeper of
// the stream. It loads nothing of a database.
export { connectNats, type NatsConfig } from './messages/connect.ts'
export { askJetStream, differencesFrom, type JetStreamInfo } from './messages/event-stream.ts'
export { type CallOptions, RpcClient } from './messages/rpc-client.ts'
export { natsConfig, serviceConfig } from './settings.ts'
