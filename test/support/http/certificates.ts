import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Certificates made for one test run: nothing to keep secret, nothing that runs out. */
interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** Names as in a certificate: `DNS:app.internal`, `IP:127.0.0.1`. */
  issue(names: readonly string[], usage?: 'server' | 'client'): Certificate;
}

export function createAuthority(): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = name('Test authority');
  const constraints = extension('551d13', sequence(Buffer.from('0101ff', 'hex')), true);
  const own = certificate({
    subject: issuer,
    issuer,
    publicKey: keys.publicKey,
    signer: keys.privateKey,
    extensions: [constraints],
  });
  return {
    ...own,
    key: pemKey(keys.privateKey),
    issue(names, usage = 'server') {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const extensions = [
        extension('551d11', sequence(...names.map(generalName))),
        extension('551d25', sequence(oid(USAGES[usage]))),
      ];
      const { cert } = certificate({
        subject: name(names[0] ?? ''),
        issuer,
        publicKey: pair.publicKey,
        signer: keys.privateKey,
        extensions,
      });
      return { cert, key: pemKey(pair.privateKey) };
    },
  };
}

const USAGES = { server: '2b06010505070301', client: '2b06010505070302' };
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';

interface Parts {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}

function certificate({ subject, issuer, publicKey, signer, extensions }: Parts): Certificate {
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const now = Date.now();
  const validity = sequence(time(now - 86_400_000), time(now + 86_400_000));
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', toSign, signer)]));
  return { cert: pem('CERTIFICATE', sequence(toSign, algorithm, signature)), key: '' };
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...contents: Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function name(common: string): Buffer {
  return sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(common)))));
}

function time(ms: number): Buffer {
  return der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
}

function generalName(text: string): Buffer {
  const value = text.slice(text.indexOf(':') + 1);
  return text.startsWith('IP:') ? der(0x87, Buffer.from(value.split('.').map(Number))) : der(0x82, Buffer.from(value));
}

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
}

function pemKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
