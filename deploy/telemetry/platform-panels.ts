import { type Panel, panel } from './panels.ts'

/** What the services stand on, row by row: Node, PostgreSQL and NATS. */
export const platformRows: Readonly<Record<string, readonly Panel[]>> = {
  Runtime: [
    panel(
      'Event loop delay, p99',
      'EventLoopBlocked at 250 ms.',
      's',
      { '{{job}} {{instance}}': 'max by (job, instance) (nodejs_eventloop_delay_p99)' },
      { bounds: { green: null, orange: 0.25 } },
    ),
    panel('Event loop utilisation', '1 is a core that is busy all the time.', 'percentunit', {
      '{{job}} {{instance}}': 'max by (job, instance) (nodejs_eventloop_utilization)',
    }),
    panel('Heap in use', 'By process.', 'bytes', {
      '{{job}} {{instance}}': 'sum by (job, instance) (v8js_memory_heap_used)',
    }),
    panel(
      'Time in garbage collection',
      'Share of the time, by process.',
      'percentunit',
      { '{{job}} {{instance}}': 'sum by (job, instance) (rate(v8js_gc_duration_sum[$__rate_interval]))' },
      { width: 12 },
    ),
    panel(
      'Versions',
      'What runs, by service.',
      'short',
      {
        '{{service_name}} on Node {{process_runtime_version}}':
          'count by (service_name, process_runtime_version) (target_info)',
      },
      { width: 12 },
    ),
  ],
  'Connections to PostgreSQL': [
    panel(
      'Callers that wait for a connection',
      'By service and pool, all replicas together. More than 0 for long: the pool is too small, or PostgreSQL is slow.',
      'short',
      {
        '{{job}}, {{db_client_connection_pool_name}}':
          'sum by (job, db_client_connection_pool_name) (db_client_connection_pending_requests)',
      },
    ),
    panel(
      'Connections in use, of those allowed',
      'By service and pool. At 1 the next caller waits.',
      'percentunit',
      {
        '{{job}}, {{db_client_connection_pool_name}}':
          'sum by (job, db_client_connection_pool_name) (db_client_connection_count{db_client_connection_state="used"}) / sum by (job, db_client_connection_pool_name) (db_client_connection_max)',
      },
      { max: 1 },
    ),
    panel('Open connections', 'Of all replicas of a service, in use or idle.', 'short', {
      '{{job}}': 'sum by (job) (db_client_connection_count)',
    }),
  ],
  PostgreSQL: [
    panel(
      'Commits and rollbacks',
      'A second, in the primary. Compare the commits with the flushes that the disk can do.',
      'ops',
      {
        commits:
          'sum(rate(cnpg_pg_stat_database_xact_commit{namespace="backoffice", datname="backoffice"}[$__rate_interval]))',
        rollbacks:
          'sum(rate(cnpg_pg_stat_database_xact_rollback{namespace="backoffice", datname="backoffice"}[$__rate_interval]))',
      },
    ),
    panel('Backends by state', 'Of all instances, against max_connections.', 'short', {
      '{{state}}': 'sum by (state) (cnpg_backends_total{namespace="backoffice"})',
      max_connections: 'max(cnpg_pg_settings_setting{namespace="backoffice", name="max_connections"})',
    }),
    panel('Longest transaction', 'By user. A long one keeps locks, and vacuum from its work.', 's', {
      '{{usename}}': 'max by (usename) (cnpg_backends_max_tx_duration_seconds{namespace="backoffice"})',
    }),
    panel(
      'Replication lag',
      'How long ago a standby replayed what it last replayed.',
      's',
      { '{{pod}}': 'max by (pod) (cnpg_pg_replication_lag{namespace="backoffice"})' },
      { bounds: { green: null, red: 300 } },
    ),
    panel('Log that waits for the archive', 'Segments of 16 MiB. It should be 0 or 1.', 'short', {
      '{{pod}}': 'max by (pod) (cnpg_collector_pg_wal_archive_status{namespace="backoffice", value="ready"})',
    }),
    panel(
      'Age of the last base backup',
      'One is made each night.',
      's',
      {
        'last base backup':
          'time() - max(barman_cloud_cloudnative_pg_io_last_available_backup_timestamp{namespace="backoffice"})',
      },
      { bounds: { green: null, red: 93600 } },
    ),
    panel('Size of the database', 'All tables and indexes of the back office.', 'bytes', {
      backoffice: 'max(cnpg_pg_database_size_bytes{namespace="backoffice", datname="backoffice"})',
    }),
    panel(
      'Free space of volumes',
      'As a share. Below 7 % VolumeFull pages.',
      'percentunit',
      {
        '{{persistentvolumeclaim}}':
          'max by (persistentvolumeclaim) (kubelet_volume_stats_available_bytes{namespace="backoffice"} / kubelet_volume_stats_capacity_bytes{namespace="backoffice"})',
      },
      { max: 1 },
    ),
    panel('Statements that wait for a lock', 'Pairs: one that waits, and one that it waits for.', 'short', {
      waiting: 'max(cnpg_backends_waiting_total{namespace="backoffice"})',
    }),
  ],
  JetStream: [
    panel('Events that wait for webhooks', 'In the stream, not yet taken by the consumer.', 'short', {
      '{{consumer_name}}':
        'max by (consumer_name) (nats_consumer_num_pending{namespace="backoffice", is_consumer_leader="true"})',
    }),
    panel('Stored in the stream EVENTS', 'Against EVENTS_MAX_BYTES.', 'bytes', {
      stored: 'max(nats_stream_total_bytes{namespace="backoffice", stream_name="EVENTS"})',
      limit: 'max(nats_stream_limit_bytes{namespace="backoffice", stream_name="EVENTS"})',
    }),
    panel('Servers and leaders', 'Servers that answer with JetStream, and leaders of the stream: 3 and 1.', 'short', {
      servers: 'count(nats_server_total_streams{namespace="backoffice"})',
      leaders:
        'count(nats_stream_total_messages{namespace="backoffice", stream_name="EVENTS", is_stream_leader="true"})',
    }),
  ],
}
