/** Makes a story of the proposals of draft-ietf-mls-extensions-10, and follows one. */
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
import { restoreKeyPackageBundle } from '../../src/group/keyPackage.ts';
import {
  type AppDataUpdateProposal,
  appDataDictionaryExtension,
  applyingAppData,
  type CreateCommitArgs,
  createCommit,
  createGroup,
  createProposal,
  decodeKeyPackage,
  exportGroupInfo,
  externalSendersExtension,
  type Group,
  groupView,
  joinByWelcome,
  joinExternal,
  type LeafOptions,
  ProposalTypeValue,
  processCommit,
  processProposal,
  proposeFromOutside,
  requiredCapabilitiesExtension,
  verifyingSelfRemoves,
} from '../../src/index.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { fromHex } from '../kat/vectors.ts';
import { anyone, anything, device, keyPackageOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { namesOf } from './suiteNames.ts';

/** The form of a passive client of the working group, with the GroupContext's extensions after each commit. */
export interface Story {
  readonly cipher_suite: number;
  readonly key_package: string;
  readonly signature_priv: string;
  readonly encryption_priv: string;
  readonly init_priv: string;
  readonly welcome: string;
  readonly initial_epoch_authenticator: string;
  readonly epochs: readonly {
    readonly proposals: readonly string[];
    readonly commit: string;
    readonly epoch_authenticator: string;
    readonly app_data_dictionary: string;
  }[];
}

const ONE = 0x8001;
/** New data is the old data and the updates, one after the other. */
const appData = applyingAppData({
  update: (_component, before, updates) =>
    utf8([before ?? new Uint8Array(), ...updates.map(({ update }) => update)].map(fromUtf8).join('')),
  remove: () => undefined,
});
const open = { memberCheck: anyone, policy: anything, appData };
const leaf: LeafOptions = {
  capabilities: {
    extensions: [0x0006],
    proposals: [ProposalTypeValue['app-data-update'], ProposalTypeValue['self-remove']],
  },
};
const update = (text: string): AppDataUpdateProposal => ({
  type: 'app-data-update',
  op: 'update',
  componentId: ONE,
  update: utf8(text),
});

function stateOf(group: Group): { epoch_authenticator: string; app_data_dictionary: string } {
  const { epochAuthenticator, extensions } = groupView(group);
  const dictionary = extensions.find(({ type }) => type === 0x0006);
  return {
    epoch_authenticator: toHex(epochAuthenticator),
    app_data_dictionary: dictionary === undefined ? '' : toHex(dictionary.data),
  };
}

/**
 * A member updates component data by value and by reference, an external sender updates it, it is removed; a member
 * removes itself by a commit of another, and a second one by a commit from outside that updates the data as well.
 */
export function tell(suiteId: 0x0003 | 0xf04d): Story & { kem: string } {
  const env = testEnv(`published: extension proposals ${suiteId}`);
  const [alice, bob, carol, passive, dave] = ['alice', 'bob', 'carol', 'passive', 'dave'].map((name) =>
    device(name, env, leaf),
  );
  const bot = device('bot', env);
  const bundles = [bob!, carol!, passive!].map((each) => keyPackageOf(each, suiteId, env));
  const extensions = [
    requiredCapabilitiesExtension({ extensions: [6], proposals: [8, 10] }),
    appDataDictionaryExtension([]),
    externalSendersExtension([{ signatureKey: bot.signatureKey.publicKey, credential: bot.credential }]),
  ];
  const founded = createGroup({ suite: suiteId, groupId: utf8('published'), ...alice!, extensions }, env);
  const first = createCommit(founded, { ...open, adds: bundles.map(({ bytes }) => bytes) }, env);
  const join = (at: number, { signatureKey }: { signatureKey: Parameters<typeof joinByWelcome>[2] }) =>
    joinByWelcome(first.welcome!, bundles[at]!, signatureKey, { memberCheck: anyone });
  let alices = first.pending;
  const bobs = join(0, bob!);
  let carols = join(1, carol!);
  const epochs: Story['epochs'][number][] = [];
  const play = (messages: readonly Uint8Array[], args: Partial<CreateCommitArgs>) => {
    const proposals = messages.map((message) => processProposal(alices, message));
    const created = createCommit(alices, { ...open, ...args, proposals }, env);
    carols = processCommit(carols, created.commit, { ...open, proposals }).group;
    alices = created.pending;
    const inHex = messages.map(toHex);
    epochs.push({ proposals: inHex, commit: toHex(created.commit), ...stateOf(alices) });
  };
  const { signatureKey } = bot;
  const { groupId, epoch } = alices.context;
  const outside = { suite: suiteId, groupId, epoch, signatureKey, senderIndex: 0 } as const;
  play(
    [
      createProposal(bobs, update('b'), env, { wireFormat: 'public-message' }).message,
      createProposal(bobs, { type: 'self-remove' }, env).message,
      proposeFromOutside({ ...outside, proposal: update('c') }),
    ],
    { appDataUpdates: [update('a')] },
  );
  play([], { appDataUpdates: [update('d'), { ...update('e'), componentId: 0x8000 }] });
  play([], { appDataUpdates: [{ type: 'app-data-update', op: 'remove', componentId: ONE }] });
  const { message } = createProposal(carols, { type: 'self-remove' }, env);
  const proposals = [processProposal(alices, message)];
  const external = {
    ...dave!,
    memberCheck: anyone,
    appData,
    selfRemoves: verifyingSelfRemoves([message]),
    appDataUpdates: [update('f')],
  };
  const joined = joinExternal(exportGroupInfo(alices), external, env);
  alices = processCommit(alices, joined.commit, { ...open, proposals }).group;
  epochs.push({ proposals: [toHex(message)], commit: toHex(joined.commit), ...stateOf(alices) });
  const { bytes, leafPrivateKey, initPrivateKey } = bundles[2]!;
  return {
    ...namesOf(suiteId),
    key_package: toHex(bytes),
    signature_priv: toHex(passive!.signatureKey.privateKey),
    encryption_priv: toHex(leafPrivateKey),
    init_priv: toHex(initPrivateKey),
    welcome: toHex(first.welcome!),
    initial_epoch_authenticator: stateOf(first.pending).epoch_authenticator,
    epochs,
  };
}

/** Follows a story as its passive client. @returns what the client comes to after each commit */
export function follow(story: Story): ReturnType<typeof stateOf>[] {
  const suite = getSuite(story.cipher_suite);
  const bundle = restoreKeyPackageBundle(
    decodeKeyPackage(fromHex(story.key_package)),
    fromHex(story.init_priv),
    fromHex(story.encryption_priv),
  );
  const signatureKey = suite.signatureKeyPair(fromHex(story.signature_priv));
  let group = joinByWelcome(fromHex(story.welcome), bundle, signatureKey, { memberCheck: anyone });
  return story.epochs.map(({ proposals: messages, commit }) => {
    const proposals = messages.map((message) => processProposal(group, fromHex(message)));
    ({ group } = processCommit(group, fromHex(commit), { ...open, proposals }));
    return stateOf(group);
  });
}
