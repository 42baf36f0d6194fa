// For what only calls services or keeps the stream: the team's command line, the development stack, the keeper of the
// stream. It loads nothing of a database.
export { connectNats } from './messages/connect.ts'
export { type CallOptions, RpcClient } from './messages/rpc-client.ts'
export { makeStream, StreamKeeper } from './messages/stream-keeper.ts'
export { natsConfig, serviceConfig } from './settings.ts'
