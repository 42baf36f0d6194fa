import {
  type EventConsumerEntry,
  eventConsumers,
  expectedConsumer,
  expectedStream,
  streamBytesMin,
  streamConfiguration,
} from '@backoffice/contracts'
import t from 'tap'
import { differencesFrom } from '../src/jetstream.ts'

const settings = { replicas: 3, bytesMax: streamBytesMin }
/** As nats-server 2.9 shows the stream that the migration Job has made. */
const stream = {
  ...streamConfiguration(settings),
  allow_direct: false,
  mirror_direct: false,
  sealed: false,
  allow_rollup_hdrs: false,
}
const ofStream = (more: object) => differencesFrom(expectedStream(settings.replicas), { ...stream, ...more })

const entry = eventConsumers[0] as EventConsumerEntry
const consumer = {
  durable_name: 'webhooks-schedule-delivery',
  name: 'webhooks-schedule-delivery',
  deliver_policy: 'all',
  ack_policy: 'explicit',
  ack_wait: 30_000_000_000,
  max_deliver: -1,
  filter_subject: 'events.>',
  replay_policy: 'instant',
  max_waiting: 512,
  max_ack_pending: 1_024,
  num_replicas: 0,
}
const ofConsumer = (more: object) => differencesFrom(expectedConsumer(entry), { ...consumer, ...more })

t.test('what a server adds by itself is no difference', async (t) => {
  const metadata = { '_nats.level': '5', '_nats.req.level': '0', '_nats.ver': '2.15.1' }
  for (const [version, more] of Object.entries({
    '2.9': {},
    '2.10': { compression: 'none', consumer_limits: {} },
    '2.15': { compression: 'none', consumer_limits: {}, allow_msg_ttl: false, metadata },
    'a later one': { new_option: '', new_options: [], new_limits: { of: { this: 0 } }, new_rule: null },
  }))
    t.same(ofStream(more), [], version)
  for (const more of [{}, { metadata }, { new_option: false }]) t.same(ofConsumer(more), [])
})

t.test('a larger stream is no difference, and neither is what only names or places it', async (t) => {
  for (const more of [
    { num_replicas: 5 },
    { max_bytes: 2 * streamBytesMin },
    { max_age: 2 * stream.max_age },
    { duplicate_window: 2 * stream.duplicate_window },
    { description: 'events' },
    { placement: { tags: ['ssd'] } },
    { compression: 's2' },
  ])
    t.same(ofStream(more), [], JSON.stringify(more))
  t.same(ofConsumer({ ack_wait: 250_000_000, max_ack_pending: 10 }), [])
})

t.test('every option by which a stream sends, hears, loses or changes something else is a difference', async (t) => {
  for (const more of [
    { name: 'OTHER' },
    { subjects: ['events.>', 'rpc.>'] },
    { subjects: ['team.>'] },
    { subjects: ['events.>', '_INBOX_alice.>'] },
    { subjects: ['events.deposit.confirmed'] },
    { subjects: undefined },
    { retention: 'interest' },
    { retention: 'workqueue' },
    { storage: 'memory' },
    { discard: 'new' },
    { discard_new_per_subject: true },
    { num_replicas: 1 },
    { max_age: 3_600_000_000_000 },
    { max_age: 0 },
    { max_bytes: -1 },
    { max_bytes: streamBytesMin - 1 },
    { max_bytes: undefined },
    { max_msgs: 10 },
    { max_msgs_per_subject: 1 },
    { max_msg_size: 100 },
    { max_consumers: 1 },
    { duplicate_window: 1_000 },
    { sources: [{ name: 'OTHER' }] },
    { sources: [{ name: 'OTHER', external: { api: '$JS.other.API' } }] },
    { mirror: { name: 'OTHER' } },
    { republish: { src: 'events.webhook.test', dest: 'team.alice.wallet.adjustWallet' } },
    { republish: { src: '>', dest: '>' } },
    { subject_transform: { src: 'events.>', dest: 'rpc.>' } },
    { no_ack: true },
    { sealed: true },
    { deny_delete: false },
    { deny_purge: undefined },
    { template_owner: 'any' },
    { first_seq: 1_000 },
    { allow_rollup_hdrs: true },
    { allow_direct: true },
    { mirror_direct: true },
    { allow_msg_ttl: true },
    { allow_msg_counter: true },
    { allow_msg_schedules: true },
    { allow_atomic: true },
    { allow_batched: true },
    { subject_delete_marker_ttl: 1 },
    { consumer_limits: { inactive_threshold: 1 } },
    { persist_mode: 'async' },
    { an_option_of_a_later_server: 'rpc.>' },
    { an_option_of_a_later_server: { to: ['rpc.>'] } },
  ])
    t.equal(ofStream(more).length, 1, JSON.stringify(more))
})

t.test('every option by which a consumer sends elsewhere or loses events is a difference', async (t) => {
  for (const more of [
    { durable_name: 'another' },
    { deliver_subject: 'rpc.wallet.creditAccount' },
    { deliver_group: 'any' },
    { deliver_policy: 'new' },
    { opt_start_seq: 5 },
    { opt_start_time: '2026-01-01T00:00:00Z' },
    { ack_policy: 'none' },
    { ack_policy: 'all' },
    { replay_policy: 'original' },
    { max_deliver: 1 },
    { filter_subject: 'events.kyc.status_changed' },
    { filter_subject: undefined, filter_subjects: ['events.kyc.status_changed', 'events.deposit.confirmed'] },
    { headers_only: true },
    { flow_control: true },
    { idle_heartbeat: 1 },
    { rate_limit_bps: 1 },
    { sample_freq: '100%' },
    { backoff: [1] },
    { inactive_threshold: 1 },
    { mem_storage: true },
    { max_batch: 1 },
    { max_expires: 1 },
    { max_bytes: 1 },
    { pause_until: '2030-01-01T00:00:00Z' },
    { priority_policy: 'pinned_client', priority_groups: ['a'] },
    { an_option_of_a_later_server: true },
  ])
    t.ok(ofConsumer(more).length > 0, JSON.stringify(more))
})

t.test('a difference says what was found and what must be', async (t) => {
  const republish = { src: 'events.>', dest: 'rpc.>' }
  t.same(ofStream({ subjects: ['rpc.>'], max_bytes: 5, republish, storage: undefined }), [
    'subjects is ["rpc.>"] instead of ["events.>"]',
    'storage is not set instead of "file"',
    `max_bytes is 5, less than ${streamBytesMin}`,
    'republish is {"src":"events.>","dest":"rpc.>"} and must not be set',
  ])
})
