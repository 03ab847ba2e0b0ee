/** Published cases of RFC 9420, in the formats of the MLS working group. */
import { concat, equalBytes, toHex } from '../bytes.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import { senderDataKey, unprotectPrivateMessage } from '../framing/privateMessage.ts';
import { unprotectPublicMessage } from '../framing/publicMessage.ts';
import { decodeKeyPackage, keyPackageRef, restoreKeyPackageBundle } from '../group/keyPackage.ts';
import { processCommit } from '../group/process.ts';
import { processProposal } from '../group/propose.ts';
import { encodeContext, groupView } from '../group/state.ts';
import { joinByWelcome, openGroupInfo, openGroupSecrets } from '../group/welcome.ts';
import {
  deriveEpoch,
  deriveJoinerSecret,
  deriveWelcomeSecret,
  exportFrom,
  externalKeyPair,
} from '../schedule/keySchedule.ts';
import { derivePskSecret } from '../schedule/psk.ts';
import { SecretTree } from '../schedule/secretTree.ts';
import { confirmationTag, confirmedTranscriptHash, interimTranscriptHash } from '../schedule/transcript.ts';
import {
  type Content,
  readFramedContent,
  readFramedContentAuthData,
  writeContent,
} from '../structs/framedContent.ts';
import { writeGroupContext } from '../structs/groupContext.ts';
import { groupInfoTBS } from '../structs/groupInfo.ts';
import { toLeafIndex, toNodeIndex } from '../structs/indices.ts';
import { leafNodeTBS } from '../structs/leafNode.ts';
import { decodeMlsMessage } from '../structs/mlsMessage.ts';
import { readRatchetTreeNodes } from '../structs/node.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';
import {
  decryptWithLabel,
  deriveSecret,
  deriveTreeSecret,
  expandWithLabel,
  refHash,
  signWithLabel,
  verifyWithLabel,
} from '../suite/labels.ts';
import { getSuite } from '../suite/suites.ts';
import { isLeaf, leftOf, nodeCount, parentOf, rightOf, rootOf, siblingOf } from '../tree/math.ts';
import { verifyParentHashes } from '../tree/parentHash.ts';
import { RatchetTree } from '../tree/ratchetTree.ts';
import { treeHash } from '../tree/treeHash.ts';
import { holds, same, type VectorCase } from './vectorCase.ts';

const suiteOf = (vector: VectorCase) => getSuite(vector.number('cipher_suite'));

export function cryptoBasicsCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  const ref = vector.case('ref_hash');
  same(refHash(suite, ref.text('label'), ref.bytes('value')), ref, 'out');
  const expand = vector.case('expand_with_label');
  const expanded = expandWithLabel(
    suite,
    expand.bytes('secret'),
    expand.text('label'),
    expand.bytes('context'),
    expand.number('length'),
  );
  same(expanded, expand, 'out');
  const derive = vector.case('derive_secret');
  same(deriveSecret(suite, derive.bytes('secret'), derive.text('label')), derive, 'out');
  const tree = vector.case('derive_tree_secret');
  const [generation, size] = [tree.number('generation'), tree.number('length')];
  same(deriveTreeSecret(suite, tree.bytes('secret'), tree.text('label'), generation, size), tree, 'out');
  const sign = vector.case('sign_with_label');
  const [label, content] = [sign.text('label'), sign.bytes('content')];
  same(signWithLabel(suite, sign.bytes('priv'), label, content), sign, 'signature');
  const verified = verifyWithLabel(suite, sign.bytes('pub'), label, content, sign.bytes('signature'));
  holds(verified, 'signature');
  const sealed = vector.case('encrypt_with_label');
  const published = { kemOutput: sealed.bytes('kem_output'), ciphertext: sealed.bytes('ciphertext') };
  const opened = decryptWithLabel(
    suite,
    sealed.bytes('priv'),
    sealed.text('label'),
    sealed.bytes('context'),
    published,
  );
  same(opened, sealed, 'plaintext');
}

export function deserializationCase(vector: VectorCase): void {
  holds(decode(vector.bytes('vlbytes_header'), (r) => r.varint()) === vector.number('length'), 'length');
  same(
    encode(vector.number('length'), (w, value) => w.varint(value)),
    vector,
    'vlbytes_header',
  );
}

export function treeMathCase(vector: VectorCase): void {
  const leaves = vector.number('n_leaves');
  const root = rootOf(leaves);
  const nodes = Array.from({ length: nodeCount(leaves) }, (_, index) => toNodeIndex(index));
  holds(nodes.length === vector.number('n_nodes'), 'n_nodes');
  holds(root === vector.number('root'), 'root');
  const published = (field: string, found: readonly (number | null)[]) =>
    holds(JSON.stringify(vector.list(field)) === JSON.stringify(found), field);
  published(
    'left',
    nodes.map((node) => (isLeaf(node) ? null : leftOf(node))),
  );
  published(
    'right',
    nodes.map((node) => (isLeaf(node) ? null : rightOf(node))),
  );
  published(
    'parent',
    nodes.map((node) => (node === root ? null : parentOf(node))),
  );
  published(
    'sibling',
    nodes.map((node) => (node === root ? null : siblingOf(node))),
  );
}

export function keyScheduleCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  let initSecret: Uint8Array = vector.bytes('initial_init_secret');
  for (const [number, epoch] of vector.cases('epochs').entries()) {
    const context = {
      cipherSuite: suite.id,
      groupId: vector.bytes('group_id'),
      epoch: BigInt(number),
      treeHash: epoch.bytes('tree_hash'),
      confirmedTranscriptHash: epoch.bytes('confirmed_transcript_hash'),
      extensions: [],
    };
    const groupContext = encode(context, writeGroupContext);
    const pskSecret = epoch.bytes('psk_secret');
    const joinerSecret = deriveJoinerSecret(suite, initSecret, epoch.bytes('commit_secret'), groupContext);
    const secrets = deriveEpoch(suite, joinerSecret, pskSecret, groupContext);
    same(groupContext, epoch, 'group_context');
    same(joinerSecret, epoch, 'joiner_secret');
    same(deriveWelcomeSecret(suite, joinerSecret, pskSecret), epoch, 'welcome_secret');
    same(secrets.initSecret, epoch, 'init_secret');
    same(secrets.senderDataSecret, epoch, 'sender_data_secret');
    same(secrets.encryptionSecret, epoch, 'encryption_secret');
    same(secrets.exporterSecret, epoch, 'exporter_secret');
    same(secrets.epochAuthenticator, epoch, 'epoch_authenticator');
    same(secrets.externalSecret, epoch, 'external_secret');
    same(secrets.confirmationKey, epoch, 'confirmation_key');
    same(secrets.membershipKey, epoch, 'membership_key');
    same(secrets.resumptionPsk, epoch, 'resumption_psk');
    same(externalKeyPair(suite, secrets.externalSecret).publicKey, epoch, 'external_pub');
    const exporter = epoch.case('exporter');
    const [label, length] = [exporter.text('label'), exporter.number('length')];
    const exported = exportFrom(suite, secrets.exporterSecret, label, exporter.bytes('context'), length);
    same(exported, exporter, 'secret');
    initSecret = secrets.initSecret;
  }
}

export function pskSecretCase(vector: VectorCase): void {
  const psks = vector.cases('psks').map((psk) => ({
    id: { type: 'external', pskId: psk.bytes('psk_id'), nonce: psk.bytes('psk_nonce') } as const,
    secret: psk.bytes('psk'),
  }));
  same(derivePskSecret(suiteOf(vector), psks), vector, 'psk_secret');
}

export function transcriptHashesCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  const { content, auth } = decode(vector.bytes('authenticated_content'), (reader) => {
    reader.u16();
    const framed = readFramedContent(reader);
    return { content: framed, auth: readFramedContentAuthData(reader, framed.content.type) };
  });
  const confirmed = confirmedTranscriptHash(suite, vector.bytes('interim_transcript_hash_before'), {
    wireFormat: 'public-message',
    content,
    signature: auth.signature,
  });
  same(confirmed, vector, 'confirmed_transcript_hash_after');
  const tag = confirmationTag(suite, vector.bytes('confirmation_key'), confirmed);
  holds(auth.confirmationTag !== null && equalBytes(tag, auth.confirmationTag), 'authenticated_content');
  same(interimTranscriptHash(suite, confirmed, tag), vector, 'interim_transcript_hash_after');
}

export function secretTreeCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  const data = vector.case('sender_data');
  const sender = senderDataKey(suite, data.bytes('sender_data_secret'), data.bytes('ciphertext'));
  same(sender.key, data, 'key');
  same(sender.nonce, data, 'nonce');
  const leaves = vector.rows('leaves');
  const tree = SecretTree.create(suite, leaves.length, vector.bytes('encryption_secret'));
  for (const [index, generations] of leaves.entries()) {
    for (const expected of generations) {
      for (const type of ['handshake', 'application'] as const) {
        const derived = tree.openKey(toLeafIndex(index), type, expected.number('generation'));
        same(derived.key, expected, `${type}_key`);
        same(derived.nonce, expected, `${type}_nonce`);
        derived.accept();
      }
    }
  }
}

export function messageProtectionCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  const groupContext = {
    cipherSuite: suite.id,
    groupId: vector.bytes('group_id'),
    epoch: BigInt(vector.number('epoch')),
    treeHash: vector.bytes('tree_hash'),
    confirmedTranscriptHash: vector.bytes('confirmed_transcript_hash'),
    extensions: [],
  };
  const signatureKeyOf = () => vector.bytes('signature_pub');
  const raw = (content: Content) =>
    content.type === 'application' ? content.data : encode(content, writeContent);
  for (const type of ['proposal', 'commit'] as const) {
    const message = decodeMlsMessage(vector.bytes(`${type}_pub`));
    holds(message.wireFormat === 'public-message', `${type}_pub`);
    const keys = { groupContext, membershipKey: vector.bytes('membership_key') };
    const opened = unprotectPublicMessage(suite, message.publicMessage, keys, signatureKeyOf);
    same(raw(opened.content.content), vector, type);
  }
  for (const type of ['proposal', 'commit', 'application'] as const) {
    const message = decodeMlsMessage(vector.bytes(`${type}_priv`));
    holds(message.wireFormat === 'private-message', `${type}_priv`);
    const keys = {
      groupContext,
      senderDataSecret: vector.bytes('sender_data_secret'),
      secretTree: SecretTree.create(suite, 2, vector.bytes('encryption_secret')),
    };
    const opened = unprotectPrivateMessage(suite, message.privateMessage, keys, signatureKeyOf, null);
    same(raw(opened.content.content.content), vector, type);
  }
}

export function treeValidationCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  const tree = RatchetTree.fromOwnRecord(decode(vector.bytes('tree'), readRatchetTreeNodes));
  for (const [node, published] of vector.list('resolutions').entries()) {
    holds(
      JSON.stringify(tree.resolution(toNodeIndex(node))) === JSON.stringify(published),
      `resolutions[${node}]`,
    );
  }
  for (const [node, published] of vector.list('tree_hashes').entries()) {
    holds(toHex(treeHash(suite, tree, toNodeIndex(node))) === published, `tree_hashes[${node}]`);
  }
  verifyParentHashes(suite, tree);
  const groupId = vector.bytes('group_id');
  for (const { leafIndex, leaf } of tree.members()) {
    const content = leafNodeTBS(leaf, { groupId, leafIndex });
    holds(verifyWithLabel(suite, leaf.signatureKey, 'LeafNodeTBS', content, leaf.signature), 'tree');
  }
}

export function welcomeCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  const noPsk = new Uint8Array(suite.kdf.Nh);
  const message = decodeMlsMessage(vector.bytes('welcome'));
  holds(message.wireFormat === 'welcome', 'welcome');
  const ref = keyPackageRef(decodeKeyPackage(vector.bytes('key_package')));
  const { joinerSecret } = openGroupSecrets(suite, message.welcome, ref, vector.bytes('init_priv'));
  const info = openGroupInfo(suite, message.welcome, joinerSecret, noPsk);
  const signed = groupInfoTBS(info);
  holds(
    verifyWithLabel(suite, vector.bytes('signer_pub'), 'GroupInfoTBS', signed, info.signature),
    'signer_pub',
  );
  const { confirmationKey } = deriveEpoch(suite, joinerSecret, noPsk, encodeContext(info.groupContext));
  const tag = confirmationTag(suite, confirmationKey, info.groupContext.confirmedTranscriptHash);
  holds(equalBytes(tag, info.confirmationTag), 'welcome');
}

/** Follows a group as one member saw it: its Welcome, then each commit. */
export function passiveClientCase(vector: VectorCase): void {
  const suite = suiteOf(vector);
  const external = new Map(
    vector.cases('external_psks').map((psk) => [psk.text('psk_id'), psk.bytes('psk')] as const),
  );
  const resumption = new Map<string, Uint8Array>();
  const psks = (id: PreSharedKeyId) =>
    id.type === 'external'
      ? external.get(toHex(id.pskId))
      : resumption.get(`${toHex(id.groupId)} ${id.epoch}`);
  const bundle = restoreKeyPackageBundle(
    decodeKeyPackage(vector.bytes('key_package')),
    vector.bytes('init_priv'),
    vector.bytes('encryption_priv'),
  );
  let group = joinByWelcome(
    vector.bytes('welcome'),
    bundle,
    suite.signatureKeyPair(vector.bytes('signature_priv')),
    {
      memberCheck: () => undefined,
      psks,
      ...(vector.has('ratchet_tree') ? { ratchetTree: vector.bytes('ratchet_tree') } : {}),
    },
  );
  const remember = () => {
    const { context, secrets } = group;
    resumption.set(`${toHex(context.groupId)} ${context.epoch}`, concat(secrets.resumptionPsk));
  };
  remember();
  same(groupView(group).epochAuthenticator, vector, 'initial_epoch_authenticator');
  for (const epoch of vector.cases('epochs')) {
    const proposals = epoch.bytesOf('proposals').map((bytes) => processProposal(group, bytes));
    const options = { memberCheck: () => undefined, policy: () => undefined, proposals, psks };
    ({ group } = processCommit(group, epoch.bytes('commit'), options));
    same(groupView(group).epochAuthenticator, epoch, 'epoch_authenticator');
    remember();
  }
}
