// The registry of pages: one line each. A page is a folder with its own route.
import { bulkRoute } from './bulk/route.ts';
import { deliveriesRoute } from './deliveries/route.ts';
import { designRoute } from './design/route.ts';
import { inboxRoute } from './inbox/route.ts';
import { methodRoute, methodTabRoute } from './method/route.ts';
import { methodsRoute } from './methods/route.ts';
import { newMethodRoute } from './new-method/route.ts';
import { productionRoute } from './production/route.ts';
import { runRoute } from './run/route.ts';
import { settingsRoute } from './settings/route.ts';
import { usageRoute } from './usage/route.ts';
import { workersRoute } from './workers/route.ts';

export const pages = [
  productionRoute,
  inboxRoute,
  methodsRoute,
  newMethodRoute,
  methodRoute,
  methodTabRoute,
  runRoute,
  bulkRoute,
  workersRoute,
  deliveriesRoute,
  usageRoute,
  settingsRoute,
  ...(import.meta.env.DEV ? [designRoute] : []),
];
