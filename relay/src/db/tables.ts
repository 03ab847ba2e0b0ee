import type { ColumnType, Generated, Kysely } from 'kysely';
import type { AccountChangeKind, Discoverability, ReportReason } from '../../contract/index.ts';
import type { KeptEndCode } from '../auth/session.ts';

/** Bytes are read as Buffer, whatever the driver returns. */
type Bytes = ColumnType<Buffer, Uint8Array, Uint8Array>;
/** Null where nothing is said on insertion. */
type NullableBytes = ColumnType<Buffer | null, Uint8Array | null | undefined, Uint8Array | null>;
/** Milliseconds since the epoch. */
type Time = number;

/** The columns are described where they are made: in migrations/. */
export interface Tables {
  users: {
    id: string;
    username: string;
    username_key: string;
    /** Null for a username of before there were skeletons, until it is filled in. */
    username_skeleton: ColumnType<string | null, string | null | undefined, string | null>;
    email: string;
    email_key: string;
    email_verified_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
    full_name: string;
    password_hash: string;
    password_salt: Bytes;
    password_ops_limit: number;
    password_mem_limit: number;
    proof_key: ColumnType<Buffer | null, Uint8Array | null | undefined, Uint8Array | null>;
    account_key: ColumnType<Buffer | null, Uint8Array | null | undefined, Uint8Array | null>;
    signed_name: NullableBytes;
    found_by: Generated<Discoverability['found_by']>;
    /** 0 or 1. */
    shows_email: Generated<number>;
    /** 0 or 1. */
    asked_first: Generated<number>;
    consented_at: Time;
    created_at: Time;
  };
  email_codes: {
    user_id: string;
    email: string;
    email_key: string;
    code_hash: Bytes;
    wrong_tries: Generated<number>;
    expires_at: Time;
  };
  /** On SQLite alone, whose index of parts of names refers to these rows. Triggers keep it. */
  usernames: {
    number: Generated<number>;
    user_id: string;
    username_key: string;
  };
  vaults: {
    user_id: string;
    version: number;
    sealed_vault: Bytes;
    password_wrap: Bytes;
    recovery_wrap: ColumnType<Buffer | null, Uint8Array | null, Uint8Array | null>;
    recovery_auth_hash: ColumnType<string | null, string | null | undefined, string | null>;
    recovery_proof_key: ColumnType<Buffer | null, Uint8Array | null | undefined, Uint8Array | null>;
  };
  former_vaults: {
    user_id: string;
    version: number;
    sealed_vault: Bytes;
    password_wrap: Bytes;
    recovery_wrap: ColumnType<Buffer | null, Uint8Array | null, Uint8Array | null>;
    replaced_at: Time;
  };
  account_states: {
    user_id: string;
    version: number;
    sealed: Bytes;
  };
  account_state_segments: {
    user_id: string;
    /** SHA-256 of what is sealed, in hexadecimal. */
    hash: string;
    sealed: Bytes;
  };
  account_changes: {
    id: string;
    user_id: string;
    kind: AccountChangeKind;
    session_id: string;
    device_id: string | null;
    device_name: string | null;
    created_at: Time;
  };
  proof_nonces: {
    nonce: Bytes;
    session_id: string;
    expires_at: Time;
  };
  devices: {
    id: string;
    user_id: string;
    name: string;
    certificate: Bytes;
    created_at: Time;
    last_seen_at: Time;
    start_number: ColumnType<number | null, number | null | undefined, number | null>;
    start_tag: ColumnType<string | null, string | null | undefined, string | null>;
    copied_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
  sessions: {
    id: string;
    user_id: string;
    device_id: string | null;
    created_at: Time;
    expires_at: Time;
    ended_at: Time | null;
    end_code: ColumnType<KeptEndCode | null, KeptEndCode | null | undefined, KeptEndCode | null>;
    purpose: Generated<'full' | 'recovery'>;
  };
  key_packages: {
    device_id: string;
    reference: Bytes;
    content: Bytes;
    created_at: Time;
    suite: number;
  };
  last_resort_key_packages: {
    device_id: string;
    suite: number;
    content: Bytes;
    created_at: Time;
  };
  contact_requests: {
    id: string;
    from_user_id: string;
    to_user_id: string;
    created_at: Time;
  };
  contacts: {
    user_id: string;
    contact_id: string;
    created_at: Time;
  };
  blocks: {
    user_id: string;
    blocked_id: string;
    seen_seq: number;
    seen_epoch: number;
    created_at: Time;
  };
  suspensions: {
    user_id: string;
    suspended_at: Time;
  };
  group_invitations: {
    user_id: string;
    group_id: string;
    created_at: Time;
    accepted_at: Time | null;
  };
  reports: {
    id: string;
    reporter_id: string;
    reported_id: string;
    reason: ReportReason;
    words: string;
    /** JSON. */
    messages: string;
    created_at: Time;
    closed_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
  operator_settings: {
    name: string;
    value: string;
  };
  invitations: {
    id: string;
    code_hash: string;
    uses: number;
    used: Generated<number>;
    note: string;
    created_at: Time;
    expires_at: Time;
    revoked_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
  operator_news: {
    id: string;
    position: number;
    /** JSON. */
    news: string;
    created_at: Time;
  };
  conversations: {
    id: string;
    epoch: number;
    last_seq: number;
    group_info: Bytes;
    created_at: Time;
  };
  trees: {
    conversation_id: string;
    tree_hash: string | null;
    bytes: number;
    changed_at: Time | null;
  };
  tree_nodes: {
    conversation_id: string;
    hash: string;
    level: number;
    first_leaf: number;
    children: string | null;
    content: Bytes;
    stored_at: Time;
  };
  participants: {
    conversation_id: string;
    user_id: string;
    read_seq: number;
    joined_seq: Generated<number>;
    /** 0 or 1. */
    held: Generated<number>;
  };
  entries: {
    conversation_id: string;
    seq: number;
    id: string;
    kind: 'application' | 'commit';
    epoch: number;
    sender_id: string;
    sender_device_id: string;
    content: Bytes;
    created_at: Time;
    /** Set where content or sender has gone. */
    digest: NullableBytes;
  };
  stored_bytes: {
    user_id: string;
    bytes: number;
    /** Days since the epoch: the last one on which the person added entries, and how many then. */
    day: number;
    entries: number;
  };
  declined_requests: {
    from_user_id: string;
    to_user_id: string;
    times: number;
    declined_at: Time;
  };
  /** A row where something has been emptied. */
  emptied_logs: {
    conversation_id: string;
    seq: number;
  };
  /** A row for each number of days by which content has been deleted, with when it last was. */
  retention_days: {
    days: number;
    used_at: Time;
  };
  receipts: {
    conversation_id: string;
    device_id: string;
    epoch: number;
    position: number;
    sealed: Bytes;
    signature: Bytes;
  };
  welcomes: {
    id: string;
    conversation_id: string;
    epoch: number;
    seq: number;
    content: Bytes;
    created_at: Time;
    /** Null for one of before, and where the account is deleted. */
    sender_id: ColumnType<string | null, string | null | undefined, string | null>;
    tree_hash: ColumnType<string | null, string | null | undefined, string | null>;
  };
  welcome_deliveries: {
    id: string;
    welcome_id: string;
    device_id: string;
  };
  groups: {
    id: string;
    conversation_id: string;
    creator_id: string | null;
    sealed_name: Bytes;
    name_epoch: number;
    created_at: Time;
  };
  departures: {
    conversation_id: string;
    user_id: string;
    statement: Bytes;
    removed_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
  past_participants: {
    user_id: string;
    conversation_id: string;
  };
  notifications: {
    id: string;
    user_id: string;
    type: 'message' | 'contact_request' | 'contact_accepted';
    sender_id: string;
    created_at: Time;
    read_at: Time | null;
  };
  revoked_devices: {
    device_id: string;
    user_id: string;
    statement: Bytes;
    revoked_at: Time;
    copied_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
  history_items: {
    user_id: string;
    position: number;
    id: string;
    conversation_id: string;
    seq: number | null;
    sealed: Bytes;
    stored_at: Time;
  };
  history_totals: {
    user_id: string;
    last_position: number;
    bytes: number;
    switched_off_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
  blobs: {
    id: string;
    /** Refers to nobody while the files of a deleted account are being deleted. */
    user_id: string;
    /** The device that began it; null once it is whole. */
    device_id: string | null;
    length: number;
    received: Generated<number>;
    created_at: Time;
    /** Null until it is whole. */
    finished_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
    /** The relay that writes it, and until when no other one may; null while none does. */
    writer: ColumnType<string | null, string | null | undefined, string | null>;
    writer_until: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
  blob_totals: {
    user_id: string;
    blobs: number;
    bytes: number;
  };
  deleted_blobs: {
    id: string;
  };
  deleted_accounts: {
    user_id: string;
    deleted_at: Time;
    emptied_at: ColumnType<Time | null, Time | null | undefined, Time | null>;
  };
}

/** A connection pool or, as its subtype, one transaction: repositories take either. */
export type Db = Kysely<Tables>;
