/** Makes our vectors of the X-Wing suite in the formats of the MLS working group, and of the safe exporter. */
import { EMPTY, toHex, utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { senderDataKey } from '../../src/framing/privateMessage.ts';
import {
  appDataDictionaryExtension,
  createCommit,
  createGroup,
  createProposal,
  encodeSafeAad,
  type Group,
  groupView,
  joinByWelcome,
  LAST_RESORT_COMPONENT,
  type PreSharedKeyId,
  processCommit,
  processProposal,
} from '../../src/index.ts';
import { startExporterTree, takeExporterSecret } from '../../src/schedule/exporterTree.ts';
import {
  deriveEpoch,
  deriveEpochSecrets,
  deriveJoinerSecret,
  deriveWelcomeSecret,
  exportFrom,
  externalKeyPair,
} from '../../src/schedule/keySchedule.ts';
import { SecretTree } from '../../src/schedule/secretTree.ts';
import { writeGroupContext } from '../../src/structs/groupContext.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import {
  deriveSecret,
  deriveTreeSecret,
  encryptWithLabel,
  expandWithLabel,
  refHash,
  signWithLabel,
} from '../../src/suite/labels.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { anyone, anything, device, keyPackageOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { tell } from './extensionProposals.ts';
import { namesOf } from './suiteNames.ts';

const SUITE = 0xf04d;
const named = namesOf(SUITE);
const open = { memberCheck: anyone, policy: anything };

function cryptoBasics() {
  const suite = getSuite(SUITE);
  const env = testEnv('published: crypto-basics');
  const [value, secret, content, context, plaintext, seed] = Array.from({ length: 6 }, () => env.random(32));
  const label = 'Label';
  const signing = suite.signatureKeyPair(seed!);
  const receiving = suite.kem.generateKeyPair(env);
  const sealed = encryptWithLabel(suite, receiving.publicKey, label, context!, plaintext!, env);
  const length = 16;
  return {
    ...named,
    ref_hash: { label, value: toHex(value!), out: toHex(refHash(suite, label, value!)) },
    expand_with_label: {
      secret: toHex(secret!),
      label,
      context: toHex(context!),
      length,
      out: toHex(expandWithLabel(suite, secret!, label, context!, length)),
    },
    derive_secret: { secret: toHex(secret!), label, out: toHex(deriveSecret(suite, secret!, label)) },
    derive_tree_secret: {
      secret: toHex(secret!),
      label,
      generation: 7,
      length,
      out: toHex(deriveTreeSecret(suite, secret!, label, 7, length)),
    },
    sign_with_label: {
      priv: toHex(signing.privateKey),
      pub: toHex(signing.publicKey),
      content: toHex(content!),
      label,
      signature: toHex(signWithLabel(suite, signing.privateKey, label, content!)),
    },
    encrypt_with_label: {
      priv: toHex(receiving.privateKey),
      pub: toHex(receiving.publicKey),
      label,
      context: toHex(context!),
      plaintext: toHex(plaintext!),
      kem_output: toHex(sealed.kemOutput),
      ciphertext: toHex(sealed.ciphertext),
    },
  };
}

function keySchedule() {
  const suite = getSuite(SUITE);
  const env = testEnv('published: key-schedule');
  const groupId = env.random(16);
  const initial = env.random(32);
  let initSecret = initial;
  const epochs = Array.from({ length: 3 }, (_, epoch) => {
    const [treeHash, confirmedTranscriptHash, commitSecret, pskSecret] = Array.from({ length: 4 }, () =>
      env.random(32),
    );
    const groupContext = encode(
      {
        cipherSuite: SUITE,
        groupId,
        epoch: BigInt(epoch),
        treeHash: treeHash!,
        confirmedTranscriptHash: confirmedTranscriptHash!,
        extensions: [],
      },
      writeGroupContext,
    );
    const joinerSecret = deriveJoinerSecret(suite, initSecret, commitSecret!, groupContext);
    const secrets = deriveEpoch(suite, joinerSecret, pskSecret!, groupContext);
    initSecret = secrets.initSecret;
    const exporter = { label: 'exported', context: toHex(env.random(8)), length: 64 };
    const exported = exportFrom(
      suite,
      secrets.exporterSecret,
      exporter.label,
      new Uint8Array(Buffer.from(exporter.context, 'hex')),
      exporter.length,
    );
    return {
      tree_hash: toHex(treeHash!),
      commit_secret: toHex(commitSecret!),
      psk_secret: toHex(pskSecret!),
      confirmed_transcript_hash: toHex(confirmedTranscriptHash!),
      group_context: toHex(groupContext),
      joiner_secret: toHex(joinerSecret),
      welcome_secret: toHex(deriveWelcomeSecret(suite, joinerSecret, pskSecret!)),
      init_secret: toHex(secrets.initSecret),
      sender_data_secret: toHex(secrets.senderDataSecret),
      encryption_secret: toHex(secrets.encryptionSecret),
      exporter_secret: toHex(secrets.exporterSecret),
      epoch_authenticator: toHex(secrets.epochAuthenticator),
      external_secret: toHex(secrets.externalSecret),
      confirmation_key: toHex(secrets.confirmationKey),
      membership_key: toHex(secrets.membershipKey),
      resumption_psk: toHex(secrets.resumptionPsk),
      external_pub: toHex(externalKeyPair(suite, secrets.externalSecret).publicKey),
      exporter: { ...exporter, secret: toHex(exported) },
    };
  });
  return { ...named, group_id: toHex(groupId), initial_init_secret: toHex(initial), epochs };
}

function secretTree() {
  const suite = getSuite(SUITE);
  const env = testEnv('published: secret-tree');
  const [senderDataSecret, ciphertext, encryptionSecret] = [env.random(32), env.random(77), env.random(32)];
  const tree = SecretTree.create(suite, 8, encryptionSecret);
  const { key, nonce } = senderDataKey(suite, senderDataSecret, ciphertext);
  const leaves = Array.from({ length: 8 }, (_, leaf) =>
    [0, 1, 15].map((generation) => {
      const [handshake, application] = (['handshake', 'application'] as const).map((type) => {
        const found = tree.openKey(toLeafIndex(leaf), type, generation);
        found.accept();
        return found;
      });
      return {
        generation,
        handshake_key: toHex(handshake!.key),
        handshake_nonce: toHex(handshake!.nonce),
        application_key: toHex(application!.key),
        application_nonce: toHex(application!.nonce),
      };
    }),
  );
  return {
    ...named,
    sender_data: {
      sender_data_secret: toHex(senderDataSecret),
      ciphertext: toHex(ciphertext),
      key: toHex(key),
      nonce: toHex(nonce),
    },
    encryption_secret: toHex(encryptionSecret),
    leaves,
  };
}

/** A client is added, then sees an own path of the committer, an Update and a Remove by reference, and a PSK. */
function passiveClient() {
  const env = testEnv('published: passive-client');
  const [alice, bob, carol, passive] = ['alice', 'bob', 'carol', 'passive'].map((name) => device(name, env));
  const bundles = [bob!, carol!, passive!].map((each) => keyPackageOf(each, SUITE, env));
  const founded = createGroup({ suite: SUITE, groupId: utf8('published'), ...alice! }, env);
  const first = createCommit(founded, { ...open, adds: bundles.map(({ bytes }) => bytes) }, env);
  let [alices, bobs] = [
    first.pending,
    joinByWelcome(first.welcome!, bundles[0]!, bob!.signatureKey, { memberCheck: anyone }),
  ];
  const secret = env.random(32);
  const psk: PreSharedKeyId = { type: 'external', pskId: utf8('psk'), nonce: env.random(32) };
  const authenticatorOf = (group: Group) => toHex(groupView(group).epochAuthenticator);
  const initial = authenticatorOf(alices);
  const epochs: { proposals: string[]; commit: string; epoch_authenticator: string }[] = [];
  const play = (proposed: 'nothing' | 'update' | 'remove' | 'psk') => {
    let proposals: ReturnType<typeof createProposal>[] = [];
    if (proposed === 'update') proposals = [createProposal(bobs, { type: 'update' }, env)];
    if (proposed === 'remove') {
      proposals = [createProposal(bobs, { type: 'remove', removed: toLeafIndex(2) }, env)];
    }
    bobs = proposals[0]?.group ?? bobs;
    const received = proposals.map(({ message }) => processProposal(alices, message));
    const created = createCommit(
      alices,
      {
        ...open,
        proposals: received,
        ...(proposed === 'psk' && { psks: [psk], pskLookup: () => secret }),
      },
      env,
    );
    const own = proposals.map(({ proposal }) => proposal);
    bobs = processCommit(bobs, created.commit, { ...open, proposals: own, psks: () => secret }).group;
    alices = created.pending;
    epochs.push({
      proposals: proposals.map(({ message }) => toHex(message)),
      commit: toHex(created.commit),
      epoch_authenticator: authenticatorOf(alices),
    });
  };
  for (const step of ['nothing', 'update', 'remove', 'psk'] as const) play(step);
  const { bytes, leafPrivateKey, initPrivateKey } = bundles[2]!;
  const welcome = toHex(first.welcome!);
  return {
    passive: {
      ...named,
      external_psks: [{ psk_id: toHex(utf8('psk')), psk: toHex(secret) }],
      key_package: toHex(bytes),
      signature_priv: toHex(passive!.signatureKey.privateKey),
      encryption_priv: toHex(leafPrivateKey),
      init_priv: toHex(initPrivateKey),
      welcome,
      ratchet_tree: null,
      initial_epoch_authenticator: initial,
      epochs,
    },
    welcome: {
      ...named,
      init_priv: toHex(initPrivateKey),
      signer_pub: toHex(alice!.signatureKey.publicKey),
      key_package: toHex(bytes),
      welcome,
    },
  };
}

/** Takes secrets by the safe exporter of draft-ietf-mls-extensions-10, one after the other, from one epoch secret. */
function safeExporter(suiteId: 0x0003 | 0xf04d) {
  const suite = getSuite(suiteId);
  const epochSecret = testEnv('published: safe exporter').random(32);
  const { applicationExportSecret } = deriveEpochSecrets(suite, epochSecret);
  const root = toHex(applicationExportSecret);
  const tree = startExporterTree(applicationExportSecret);
  const exported = [0x8001, 0x8000, 0, 0xffff].map((component_id) => ({
    component_id,
    secret: toHex(takeExporterSecret(suite, tree, component_id)),
  }));
  return {
    ...namesOf(suiteId),
    epoch_secret: toHex(epochSecret),
    application_export_secret: root,
    exported,
  };
}

function componentData() {
  const lists = [
    [],
    [LAST_RESORT_COMPONENT],
    [
      { componentId: 0x8000, data: utf8('first') },
      { componentId: 0xffff, data: new Uint8Array(100).fill(7) },
    ],
  ];
  return lists.map((entries) => ({
    entries: entries.map(({ componentId, data }) => ({
      component_id: componentId,
      data: toHex(data ?? EMPTY),
    })),
    app_data_dictionary: toHex(appDataDictionaryExtension(entries).data),
    safe_aad: toHex(encodeSafeAad(entries)),
  }));
}

/** For whoever has this file alone, built. */
export { ready } from '../../src/index.ts';

/** Returns each file's cases, by the file's name, once `ready` has resolved. */
export function generate(): Record<string, readonly unknown[]> {
  const { passive, welcome } = passiveClient();
  return {
    'crypto-basics.json': [cryptoBasics()],
    'key-schedule.json': [keySchedule()],
    'secret-tree.json': [secretTree()],
    'welcome.json': [welcome],
    'passive-client.json': [passive],
    'safe-exporter.json': [safeExporter(0x0003), safeExporter(SUITE)],
    'component-data.json': componentData(),
    'extension-proposals.json': [tell(0x0003), tell(SUITE)],
  };
}
