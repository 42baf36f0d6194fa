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

const each = (name: string, ...values: readonly unknown[]) => values.map((value) => ({ [name]: value }))
const isTrue = (...names: readonly string[]) => names.map((name) => ({ [name]: true }))

t.test('every option by which a stream sends, hears, loses or changes something else is a difference', async (t) => {
  for (const more of [
    { name: 'OTHER' },
    ...each(
      'subjects',
      ['events.>', 'rpc.>'],
      ['team.>'],
      ['events.>', '_INBOX_alice.>'],
      ['events.deposit.confirmed'],
    ),
    ...each('subjects', undefined),
    ...each('retention', 'interest', 'workqueue'),
    ...[{ storage: 'memory' }, { discard: 'new' }, { num_replicas: 1 }, { duplicate_window: 1_000 }],
    ...each('max_age', 3_600_000_000_000, 0),
    ...each('max_bytes', -1, streamBytesMin - 1, undefined),
    ...[{ max_msgs: 10 }, { max_msgs_per_subject: 1 }, { max_msg_size: 100 }, { max_consumers: 1 }],
    ...each('sources', [{ name: 'OTHER' }], [{ name: 'OTHER', external: { api: '$JS.other.API' } }]),
    { mirror: { name: 'OTHER' } },
    ...each(
      'republish',
      { src: 'events.webhook.test', dest: 'team.alice.wallet.adjustWallet' },
      { src: '>', dest: '>' },
    ),
    { subject_transform: { src: 'events.>', dest: 'rpc.>' } },
    ...[{ deny_delete: false }, { deny_purge: undefined }, { template_owner: 'any' }, { first_seq: 1_000 }],
    ...isTrue('discard_new_per_subject', 'no_ack', 'sealed', 'allow_rollup_hdrs', 'allow_direct', 'mirror_direct'),
    ...isTrue('allow_msg_ttl', 'allow_msg_counter', 'allow_msg_schedules', 'allow_atomic', 'allow_batched'),
    ...[{ subject_delete_marker_ttl: 1 }, { consumer_limits: { inactive_threshold: 1 } }, { persist_mode: 'async' }],
    ...each('an_option_of_a_later_server', 'rpc.>', { to: ['rpc.>'] }),
  ])
    t.equal(ofStream(more).length, 1, JSON.stringify(more))
})

t.test('every option by which a consumer sends elsewhere or loses events is a difference', async (t) => {
  for (const more of [
    ...[{ durable_name: 'another' }, { deliver_subject: 'rpc.wallet.creditAccount' }, { deliver_group: 'any' }],
    ...[{ deliver_policy: 'new' }, { opt_start_seq: 5 }, { opt_start_time: '2026-01-01T00:00:00Z' }],
    ...each('ack_policy', 'none', 'all'),
    ...[{ replay_policy: 'original' }, { max_deliver: 1 }, { filter_subject: 'events.kyc.status_changed' }],
    { filter_subject: undefined, filter_subjects: ['events.kyc.status_changed', 'events.deposit.confirmed'] },
    ...[{ idle_heartbeat: 1 }, { rate_limit_bps: 1 }, { sample_freq: '100%' }, { backoff: [1] }],
    ...[{ inactive_threshold: 1 }, { max_batch: 1 }, { max_expires: 1 }, { max_bytes: 1 }],
    { pause_until: '2030-01-01T00:00:00Z' },
    { priority_policy: 'pinned_client', priority_groups: ['a'] },
    ...isTrue('headers_only', 'flow_control', 'mem_storage', 'an_option_of_a_later_server'),
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
