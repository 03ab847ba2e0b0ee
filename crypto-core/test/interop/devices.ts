/** Devices of ours and of ts-mls, an independent implementation of RFC 9420, which exchange nothing but bytes. */

import { beforeAll } from 'vitest';
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
import {
  createCommit,
  createGroup,
  createKeyPackage,
  createProposal,
  createSignatureKeyPair,
  decryptApplication,
  encryptApplication,
  exportSecret,
  type Group,
  groupView,
  joinByWelcome,
  joinExternal,
  type KeyPackageBundle,
  type ProposalRequest,
  processCommit,
  ready,
  type StoredProposal,
} from '../../src/index.ts';
import { testEnv } from '../testEnv.ts';
import * as peer from './peer.ts';

const SUITE = 0x0003;
const groupId = utf8('interop');
// The peer checks lifetimes by the real clock.
const env = testEnv('interop', Date.now());
export const hooks = { memberCheck: () => undefined, policy: () => undefined };
let cipherSuite: peer.CiphersuiteImpl;

export function withDevices(): void {
  beforeAll(async () => {
    await ready();
    cipherSuite = await peer.getCiphersuiteImpl(
      peer.getCiphersuiteFromName('MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519'),
    );
  });
}

function lifetime(): { notBefore: bigint; notAfter: bigint } {
  const now = BigInt(Math.floor(env.now() / 1000));
  return { notBefore: now - 3600n, notAfter: now + 86_400n };
}

/** One of our devices, with its keys and its group. */
export class Ours {
  readonly signatureKey = createSignatureKeyPair(env);
  readonly credential;
  group: Group | null = null;

  constructor(name: string) {
    this.credential = { type: 'basic', identity: utf8(name) } as const;
  }

  keyPackage(): KeyPackageBundle {
    return createKeyPackage(
      { suite: SUITE, credential: this.credential, signatureKey: this.signatureKey, lifetime: lifetime() },
      env,
    );
  }

  create(): void {
    this.group = createGroup(
      { suite: SUITE, groupId, credential: this.credential, signatureKey: this.signatureKey },
      env,
    );
  }

  join(welcome: Uint8Array, bundle: KeyPackageBundle): void {
    this.group = joinByWelcome(welcome, bundle, this.signatureKey, hooks);
  }

  joinExternally(groupInfo: Uint8Array): Uint8Array {
    const joined = joinExternal(
      groupInfo,
      { credential: this.credential, signatureKey: this.signatureKey, ...hooks },
      env,
    );
    this.group = joined.pending;
    return joined.commit;
  }

  commit(args: Partial<Parameters<typeof createCommit>[1]>) {
    const created = createCommit(this.group!, { ...args, ...hooks }, env);
    this.group = created.pending;
    return created;
  }

  process(commit: Uint8Array, proposals: readonly StoredProposal[] = []): void {
    this.group = processCommit(this.group!, commit, { ...hooks, proposals }).group;
  }

  propose(request: ProposalRequest): { message: Uint8Array; proposal: StoredProposal } {
    const created = createProposal(this.group!, request, env);
    this.group = created.group;
    return created;
  }

  say(text: string): Uint8Array {
    return encryptApplication(this.group!, utf8(text), utf8('aad'), env);
  }

  hear(message: Uint8Array): string {
    return fromUtf8(decryptApplication(this.group!, message).plaintext);
  }

  fingerprint(): string {
    return toHex(groupView(this.group!).epochAuthenticator);
  }
}

/** One of the peer's devices, behind the same byte interface. */
export class Theirs {
  state: peer.ClientState | null = null;
  #keys: Awaited<ReturnType<typeof peer.generateKeyPackage>> | null = null;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async keyPackage(): Promise<Uint8Array> {
    this.#keys = await peer.generateKeyPackage(
      { credentialType: 'basic', identity: utf8(this.#name) },
      peer.defaultCapabilities(),
      lifetime(),
      [],
      cipherSuite,
    );
    return peer.encodeMlsMessage({
      version: 'mls10',
      wireformat: 'mls_key_package',
      keyPackage: this.#keys.publicPackage,
    });
  }

  /** The private keys of the last KeyPackage. */
  privateKeys(): { readonly init: Uint8Array; readonly leaf: Uint8Array; readonly signature: Uint8Array } {
    const { hpkePrivateKey, initPrivateKey, signaturePrivateKey } = this.#keys!.privatePackage;
    return { init: initPrivateKey, leaf: hpkePrivateKey, signature: signaturePrivateKey };
  }

  async create(): Promise<void> {
    await this.keyPackage();
    const { publicPackage, privatePackage } = this.#keys!;
    this.state = await peer.createGroup(groupId, publicPackage, privatePackage, [], cipherSuite);
  }

  async join(welcome: Uint8Array): Promise<void> {
    const message = decodePeer(welcome);
    if (message.wireformat !== 'mls_welcome') throw new Error(message.wireformat);
    const { publicPackage, privatePackage } = this.#keys!;
    this.state = await peer.joinGroup(
      message.welcome,
      publicPackage,
      privatePackage,
      peer.emptyPskIndex,
      cipherSuite,
    );
  }

  async joinExternally(groupInfo: Uint8Array): Promise<Uint8Array> {
    const message = decodePeer(groupInfo);
    if (message.wireformat !== 'mls_group_info') throw new Error(message.wireformat);
    await this.keyPackage();
    const { publicPackage, privatePackage } = this.#keys!;
    const joined = await peer.joinExternally(message.groupInfo, publicPackage, privatePackage, cipherSuite);
    this.state = joined.newState;
    return peer.encodeMlsMessage({
      version: 'mls10',
      wireformat: 'mls_public_message',
      publicMessage: joined.publicMessage,
    });
  }

  async commit(
    extraProposals: peer.Proposal[],
    wireAsPublicMessage = false,
  ): Promise<{ commit: Uint8Array; welcome: Uint8Array | null }> {
    const created = await peer.createCommit(
      { state: this.state!, cipherSuite },
      { extraProposals, ratchetTreeExtension: true, wireAsPublicMessage },
    );
    this.state = created.newState;
    return {
      commit: peer.encodeMlsMessage(created.commit),
      welcome:
        created.welcome === undefined
          ? null
          : peer.encodeMlsMessage({ version: 'mls10', wireformat: 'mls_welcome', welcome: created.welcome }),
    };
  }

  async propose(proposal: peer.Proposal, isPublic: boolean): Promise<Uint8Array> {
    const created = await peer.createProposal(this.state!, isPublic, proposal, cipherSuite);
    this.state = created.newState;
    return peer.encodeMlsMessage(created.message);
  }

  /** Takes a commit or a proposal. */
  async process(bytes: Uint8Array): Promise<void> {
    const message = decodePeer(bytes);
    if (message.wireformat !== 'mls_private_message' && message.wireformat !== 'mls_public_message') {
      throw new Error(message.wireformat);
    }
    const result = await peer.processMessage(
      message,
      this.state!,
      peer.emptyPskIndex,
      peer.acceptAll,
      cipherSuite,
    );
    if (result.kind !== 'newState') throw new Error(result.kind);
    this.state = result.newState;
  }

  async say(text: string): Promise<Uint8Array> {
    const sent = await peer.createApplicationMessage(this.state!, utf8(text), cipherSuite, utf8('aad'));
    this.state = sent.newState;
    return peer.encodeMlsMessage({
      version: 'mls10',
      wireformat: 'mls_private_message',
      privateMessage: sent.privateMessage,
    });
  }

  async hear(bytes: Uint8Array): Promise<string> {
    const message = decodePeer(bytes);
    if (message.wireformat !== 'mls_private_message') throw new Error(message.wireformat);
    const result = await peer.processPrivateMessage(
      this.state!,
      message.privateMessage,
      peer.emptyPskIndex,
      cipherSuite,
    );
    if (result.kind !== 'applicationMessage') throw new Error(result.kind);
    this.state = result.newState;
    return fromUtf8(result.message);
  }

  async groupInfo(): Promise<Uint8Array> {
    const groupInfo = await peer.createGroupInfoForExternalJoin(this.state!, cipherSuite);
    return peer.encodeMlsMessage({ version: 'mls10', wireformat: 'mls_group_info', groupInfo });
  }

  fingerprint(): string {
    return toHex(this.state!.keySchedule.epochAuthenticator);
  }
}

function decodePeer(bytes: Uint8Array): peer.MLSMessage {
  const decoded = peer.decodeMlsMessage(bytes, 0);
  if (decoded === undefined) throw new Error('the peer could not decode the message');
  const [message, length] = decoded;
  if (length !== bytes.length) throw new Error('the peer left bytes over');
  return message;
}

export function addOf(keyPackage: Uint8Array): peer.Proposal {
  const message = decodePeer(keyPackage);
  if (message.wireformat !== 'mls_key_package') throw new Error(message.wireformat);
  return { proposalType: 'add', add: { keyPackage: message.keyPackage } };
}

const TEXTS = ['moi', 'x'.repeat(5000), ''];

/** The result of `conversation` when both are in one epoch and understand each other. */
export const UNDERSTOOD = { sameEpoch: true, sameExport: true, theyHeard: TEXTS, weHeard: TEXTS };

export async function conversation(ours: Ours, theirs: Theirs): Promise<typeof UNDERSTOOD> {
  const sameEpoch = ours.fingerprint() === theirs.fingerprint();
  const exporter = theirs.state!.keySchedule.exporterSecret;
  const exported = await peer.mlsExporter(exporter, 'interop', utf8('context'), 40, cipherSuite);
  const sameExport = toHex(exportSecret(ours.group!, 'interop', utf8('context'), 40)) === toHex(exported);
  const theyHeard: string[] = [];
  const weHeard: string[] = [];
  for (const text of TEXTS) {
    theyHeard.push(await theirs.hear(ours.say(text)));
    weHeard.push(ours.hear(await theirs.say(text)));
  }
  return { sameEpoch, sameExport, theyHeard, weHeard };
}

/** We create the group and add the peer. */
export async function ourGroup(): Promise<{ ours: Ours; theirs: Theirs }> {
  const ours = new Ours('ours');
  const theirs = new Theirs('theirs');
  ours.create();
  const { welcome } = ours.commit({ adds: [await theirs.keyPackage()] });
  await theirs.join(welcome!);
  return { ours, theirs };
}

/** The peer creates the group and adds us. */
export async function theirGroup(): Promise<{ ours: Ours; theirs: Theirs }> {
  const ours = new Ours('ours');
  const theirs = new Theirs('theirs');
  await theirs.create();
  const bundle = ours.keyPackage();
  const { welcome } = await theirs.commit([addOf(bundle.bytes)]);
  ours.join(welcome!, bundle);
  return { ours, theirs };
}
