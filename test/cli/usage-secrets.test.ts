/** Wrong usage that would send a key unencrypted, or show a secret: refused, and the secret is masked. */
import t from 'tap';
import { createFolder, writeFileIn } from '../support/commands/folder.ts';
import { testUsage, type UsageRow } from '../support/commands/usage.ts';

const FOLDER = createFolder(t);
const URL = 'http://127.0.0.1:1';
const KEY = { SANDBOX_KIT_API_KEY: 'a-key' };
const FAR = 'http://sandbox.example.com:8080';
const UNENCRYPTED =
  /The API key would be sent unencrypted to sandbox\.example\.com:8080, because the URL starts with http:\/\/\. Use https:\/\/, or --allow-http /;
const HEADERS = writeFileIn(FOLDER, 'headers.txt', 'X-Tenant: acme\n');

const secrets: UsageRow[] = [
  [['check', FAR], UNENCRYPTED, KEY],
  [['doctor', FAR], UNENCRYPTED, KEY],
  [['load', FAR, '--quick', '--yes'], UNENCRYPTED, KEY],
  [['simulate', FAR], UNENCRYPTED, KEY],
  [['check', FAR, '--area', 'service'], UNENCRYPTED, { SANDBOX_KIT_SERVICE_API_KEY: 'a-key' }],
  [['check', FAR, '--header-file', HEADERS], /The values of --header-file would be sent unenc/],
  [
    ['check', URL, '--voice-url', 'ws://calls.example.com/voice'],
    /The API key .* to calls\.example\.com, because the URL starts with ws:\/\/\. Use wss:/,
    KEY,
  ],
];

// A URL that is in the wrong place.
const DATABASE = 'postgres://kit:secret@db.example/kit?password=secret';
const MASKED = String.raw`"postgres://…@db\.example/kit"`;
const misplaced: UsageRow[] = [
  [
    ['migrate', DATABASE],
    new RegExp(`Unexpected argument ${MASKED}\\. Did you mean --database URL\\?`),
  ],
  [['serve', DATABASE], new RegExp(`Unexpected argument ${MASKED}\\. Did you mean --database`)],
  [[DATABASE], new RegExp(`Unknown command ${MASKED}\\. Run`)],
  [['serve', '--port', DATABASE], new RegExp(`--port must be .*, got ${MASKED}\\.`)],
  [['serve', '--seed-file', DATABASE], new RegExp(`--seed-file must be a path, got ${MASKED}\\.`)],
  [['serve', '--data', DATABASE], new RegExp(`--data must be a path, got ${MASKED}\\.`)],
  [['serve', '--config', DATABASE], /\(--config\)/],
  [['serve', '--seed-file', 'postgres:/kit:secret@db/kit'], /Can't read postgres:\/…@db\/kit/],
  [['exec', DATABASE], /sandbox-kit exec -- postgres:\/\/…@db\.example/],
  [['migrate', 'postgres://kit:sec ret?secret@db'], /argument "postgres:\/\/…@db"/],
  [['migrate', 'postgres://kit:a"secret"@db'], /argument "postgres:\/\/…@db"/],
  [
    ['serve', '--app-url', 'http://me:secret@host'],
    /--app-url must not contain a user name or password\. Remove them: .*\n$/s,
  ],
  [['check', 'http://me:no?secret@host'], /got "http:\/\/…@host"/],
];

testUsage(t, 'keys and headers over plain HTTP', secrets, FOLDER);
testUsage(t, 'a URL with a secret in the wrong place', misplaced, FOLDER);
