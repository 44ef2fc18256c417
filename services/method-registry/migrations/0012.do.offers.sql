-- Published methods that an organization offers to agents as tools of their own, chosen by an admin.

create table registry.offers (
  org_id text not null,
  method_id text not null,
  -- One of a hundred places: the bound on their number holds also for two offered at the same time.
  place smallint not null,
  offered_at timestamptz not null default now(),
  offered_by text not null,
  constraint offers_pkey primary key (org_id, method_id),
  constraint offers_place_key unique (org_id, place),
  constraint offers_method_fkey foreign key (org_id, method_id) references registry.methods (org_id, method_id),
  constraint offers_place_check check (place between 1 and 100),
  constraint offers_offered_by_check check (char_length(offered_by) <= 128)
);
