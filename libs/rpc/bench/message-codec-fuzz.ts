// Compares the codec with @bufbuild/protobuf on random messages of every type, mutilated ones, and values that no field
// can hold, for as long as one likes; `message-codec.test.ts` does a little of it.
// Usage: node --import tsx libs/rpc/bench/message-codec-fuzz.ts [runs a message type=2000] [seed=a random one]
import { sameBytes, sameRefusals, sameVerdicts } from '../src/codec-differences.fixture.ts';
import { allMessages } from '../src/message-arbitrary.fixture.ts';

const numRuns = Number(process.argv[2] ?? 2_000);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
const messages = allMessages();
console.log(`${messages.length} message types, ${numRuns} runs each, seed ${seed}`);
let refused = 0;
let all = 0;
for (const desc of messages) {
  sameBytes(desc, { numRuns, seed });
  sameRefusals(desc, { numRuns, seed });
  const verdicts = sameVerdicts(desc, { numRuns, seed });
  refused += verdicts.refused;
  all += verdicts.all;
}
console.log(`no difference; ${refused} of ${all} mutilated messages were refused`);
