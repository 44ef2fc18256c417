// `npm run pack:client -- FOLDER`: packs the library into a tarball in this folder, and prints its path.
// `main.ts --code FOLDER`: builds only what Node needs of the package, as that folder.
import { resolve } from 'node:path';
import { buildCode } from './build-package.ts';
import { pack } from './pack-client.ts';

const [first = '.', second] = process.argv.slice(2);
if (first === '--code' && second !== undefined) await buildCode(second);
else console.log(await pack(resolve(first)));
