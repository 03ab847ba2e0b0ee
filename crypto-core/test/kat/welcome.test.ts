import { beforeAll, describe, expect, it } from 'vitest';
import { equalBytes, toHex } from '../../src/bytes.ts';
import { decodeKeyPackage, keyPackageRef } from '../../src/group/keyPackage.ts';
import { encodeContext } from '../../src/group/state.ts';
import { openGroupInfo, openGroupSecrets } from '../../src/group/welcome.ts';
import { deriveEpoch } from '../../src/schedule/keySchedule.ts';
import { confirmationTag } from '../../src/schedule/transcript.ts';
import { groupInfoTBS } from '../../src/structs/groupInfo.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { verifyWithLabel } from '../../src/suite/labels.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { fromHex, mlsVectors } from './vectors.ts';

interface Vector {
  cipher_suite: number;
  init_priv: string;
  signer_pub: string;
  key_package: string;
  welcome: string;
}

beforeAll(ready);

describe.each(mlsVectors<Vector>('welcome'))('welcome, suite $cipher_suite', (vector) => {
  it('opens to a GroupInfo whose signature and confirmation tag hold', () => {
    const suite = getSuite(vector.cipher_suite);
    const noPsk = new Uint8Array(suite.kdf.Nh);
    const message = decodeMlsMessage(fromHex(vector.welcome));
    if (message.wireFormat !== 'welcome') throw new Error('not a welcome');
    const { welcome } = message;
    const ref = keyPackageRef(decodeKeyPackage(fromHex(vector.key_package)));
    expect(welcome.secrets.some(({ newMember }) => equalBytes(newMember, ref))).toBe(true);

    const { joinerSecret, psks } = openGroupSecrets(suite, welcome, ref, fromHex(vector.init_priv));
    expect(psks).toEqual([]);
    const info = openGroupInfo(suite, welcome, joinerSecret, noPsk);
    const signer = fromHex(vector.signer_pub);
    expect(verifyWithLabel(suite, signer, 'GroupInfoTBS', groupInfoTBS(info), info.signature)).toBe(true);

    const { confirmationKey } = deriveEpoch(suite, joinerSecret, noPsk, encodeContext(info.groupContext));
    const { confirmedTranscriptHash } = info.groupContext;
    expect(toHex(confirmationTag(suite, confirmationKey, confirmedTranscriptHash))).toBe(
      toHex(info.confirmationTag),
    );
  });
});
