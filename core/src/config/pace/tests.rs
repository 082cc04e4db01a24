//! The chain, layer by layer and field by field.

use serde_json::json;

use super::super::parse_site;
use super::*;

const ALL: [SettingOrigin; 3] = [SettingOrigin::Target, SettingOrigin::Column, SettingOrigin::Site];

fn layers() -> PaceLayers {
    PaceLayers { attachment_cap: Duration::from_secs(2), ..PaceLayers::default() }
}

fn layer(layers: &mut PaceLayers, origin: SettingOrigin) -> &mut Pace {
    match origin {
        SettingOrigin::Target => &mut layers.target,
        SettingOrigin::Column => &mut layers.column,
        _ => &mut layers.site,
    }
}

/// Every field with a value that depends on the layer.
fn full(n: u32) -> Pace {
    let f = f64::from(n);
    Pace {
        profile: None,
        interval_sec: Some(10.0 + f),
        interval_jitter_sec: Some(f),
        concurrency: Some(1 + n),
        rps: Some(1.0 + f),
        burst: Some(1 + n),
        throttle_by: Some(ThrottleKey::Domain),
        attachment_interval_cap_sec: Some(f),
    }
}

/// Name, value and origin of every field.
fn said(pace: &EffectivePace) -> Vec<(String, Value, String)> {
    let value = serde_json::to_value(pace).unwrap();
    let one = |(name, setting): (&String, &Value)| {
        (name.clone(), setting["value"].clone(), setting["origin"].as_str().unwrap().to_owned())
    };
    value.as_object().unwrap().iter().map(one).collect()
}

#[test]
fn each_field_is_the_word_of_the_strongest_layer_that_has_one() {
    // Every subset of the three layers: all fields come from the strongest one in it.
    for subset in 1..8u32 {
        let mut layers = layers();
        let present: Vec<(u32, SettingOrigin)> =
            (0..3).filter(|n| subset & (1 << n) != 0).map(|n| (n, ALL[n as usize])).collect();
        for (n, origin) in &present {
            *layer(&mut layers, *origin) = full(*n);
        }
        layers.adapter_interval = Some(Duration::from_secs(99));
        let (n, strongest) = present[0];
        let wanted = serde_json::to_value(full(n)).unwrap();
        for (name, value, origin) in said(&layers.effective()) {
            if name == "profile" {
                assert_eq!((value, origin.as_str()), (json!("polite"), "default"));
                continue;
            }
            assert_eq!(value, wanted[&name], "{name} {subset}");
            assert_eq!(origin, strongest.to_string(), "{name} {subset}");
        }
    }
}

#[test]
fn fields_come_from_different_layers() {
    let mut layers = layers();
    layers.site = full(2);
    layers.column.interval_sec = Some(7.0);
    layers.target.rps = Some(0.5);
    let pace = layers.effective();
    assert_eq!(pace.interval_sec, Setting { value: 7.0, origin: SettingOrigin::Column });
    assert_eq!(pace.rps, Setting { value: Some(0.5), origin: SettingOrigin::Target });
    assert_eq!(pace.concurrency, Setting { value: 3, origin: SettingOrigin::Site });
    assert_eq!(pace.policy().key, ThrottleKey::Domain);
}

#[test]
fn the_adapter_speaks_of_the_interval_where_nobody_stronger_does() {
    let adapter_interval = Some(Duration::from_secs(8));
    let layers = PaceLayers { adapter_interval, engine_profile: Some(Profile::Fast), ..layers() };
    let pace = layers.effective();
    assert_eq!(pace.interval_sec, Setting { value: 8.0, origin: SettingOrigin::Adapter });
    assert_eq!(pace.concurrency.origin, SettingOrigin::Profile(Profile::Fast, "engine"));
    assert_eq!(pace.concurrency.value, 10);
    assert_eq!(pace.profile, Setting { value: Profile::Fast, origin: SettingOrigin::Engine });
}

#[test]
fn a_profile_speaks_for_what_its_layer_leaves_out_and_hides_the_layers_below() {
    let mut layers = layers();
    layers.adapter_interval = Some(Duration::from_secs(8));
    layers.site = full(2);
    layers.column = Pace { profile: Some(Profile::Fast), burst: Some(3), ..Pace::default() };
    let pace = layers.effective();
    let by_column = SettingOrigin::Profile(Profile::Fast, "column");
    assert_eq!(pace.interval_sec, Setting { value: 0.0, origin: by_column });
    assert_eq!(pace.rps, Setting { value: Some(10.0), origin: by_column });
    assert_eq!(pace.burst, Setting { value: 3, origin: SettingOrigin::Column });
    assert_eq!(pace.attachment_interval_cap_sec, Setting { value: 2.0, origin: SettingOrigin::Site });
    // The operator makes it polite again with one word.
    layers.target.profile = Some(Profile::Polite);
    let pace = layers.effective();
    let own = HostPolicy { attachment_cap: Some(Duration::from_secs(2)), ..HostPolicy::default() };
    assert_eq!(pace.policy(), own);
    assert_eq!(pace.profile, Setting { value: Profile::Polite, origin: SettingOrigin::Target });
}

#[test]
fn the_engines_interval_overrules_all_and_takes_jitter_and_rate_away() {
    let mut layers = layers();
    layers.target = full(0);
    layers.site.profile = Some(Profile::Fast);
    layers.engine_interval = Some(Duration::ZERO);
    let pace = layers.effective();
    for (value, origin) in [
        (pace.interval_sec.value, pace.interval_sec.origin),
        (pace.interval_jitter_sec.value, pace.interval_jitter_sec.origin),
        (pace.rps.value.unwrap_or_default(), pace.rps.origin),
    ] {
        assert_eq!((value, origin), (0.0, SettingOrigin::Engine));
    }
    assert_eq!(pace.rps.value, None);
    assert_eq!(pace.concurrency.origin, SettingOrigin::Target, "how many at once is still the target's word");
}

#[test]
fn nobody_said_anything() {
    let pace = layers().effective();
    let own = HostPolicy { attachment_cap: Some(Duration::from_secs(2)), ..HostPolicy::default() };
    assert_eq!(pace.policy(), own, "S2-29");
    assert!(said(&pace).iter().all(|(_, _, origin)| origin == "default"), "{:?}", said(&pace));
    // A jitter that was meant for five seconds does not drown a short interval; one that was said, stays.
    let mut layers = layers();
    layers.site.interval_sec = Some(0.5);
    assert_eq!(layers.effective().interval_jitter_sec.value, 0.25);
    layers.site.interval_jitter_sec = Some(3.0);
    assert_eq!(layers.effective().interval_jitter_sec.value, 3.0);
}

const FILE: &str = "site_id: demo
site_name: 示例
base_url: https://www.example.gov.cn
concurrency: 2
interval_sec: 4
throttle_by: domain
default_column: {list_selector: {row: li}, list_url: '/{column}/'}
columns:
  - {column_id: a, interval_sec: 9, profile: fast}
  - {column_id: b}
";

#[test]
fn the_layers_of_a_stored_target_are_its_file_and_what_was_put_into_its_row() {
    let (mut site, mut targets) = parse_site(FILE, "demo.yaml").unwrap().into_rows().unwrap();
    let of = |site: &Site, target: &Target| PaceLayers::of(site, target).effective();
    let pace = of(&site, &targets[0]);
    assert_eq!(pace.interval_sec, Setting { value: 9.0, origin: SettingOrigin::Column });
    assert_eq!(pace.concurrency.origin, SettingOrigin::Profile(Profile::Fast, "column"));
    let pace = of(&site, &targets[1]);
    assert_eq!(pace.interval_sec, Setting { value: 4.0, origin: SettingOrigin::Site });
    assert_eq!(pace.throttle_by, Setting { value: ThrottleKey::Domain, origin: SettingOrigin::Site });
    assert_eq!(pace.concurrency, Setting { value: 2, origin: SettingOrigin::Site });

    targets[1].pace.interval_sec = Some(30.0);
    assert_eq!(of(&site, &targets[1]).interval_sec, Setting { value: 30.0, origin: SettingOrigin::Target });
    targets[0].interval_sec = Some(11.0);
    assert_eq!(of(&site, &targets[0]).interval_sec, Setting { value: 11.0, origin: SettingOrigin::Target });
    site.concurrency = 5;
    assert_eq!(of(&site, &targets[1]).concurrency, Setting { value: 5, origin: SettingOrigin::Site });
}

#[test]
fn settings_are_changed_by_words_and_taken_back() {
    let pace = Pace::default().set(["interval_sec=10", "profile=fast", "throttle_by=domain"]).unwrap();
    assert_eq!((pace.interval_sec, pace.profile), (Some(10.0), Some(Profile::Fast)));
    let pace = pace.set(["interval_sec=", "rps=0.5"]).unwrap();
    assert_eq!((pace.interval_sec, pace.rps, pace.throttle_by), (None, Some(0.5), Some(ThrottleKey::Domain)));
    for (word, fix) in [
        ("intervall_sec=1", "did you mean `interval_sec`?"),
        ("interval_sec", "interval_sec=10"),
        ("interval_sec=-1", "from 0"),
        ("interval_sec=soon", "`interval_sec=soon`"),
        ("concurrency=99", "from 1 to 16"),
        ("rps=0", "0.001"),
        ("burst=0", "from 1"),
        ("profile=rude", "polite"),
    ] {
        let error = Pace::default().set([word]).unwrap_err().to_string();
        assert!(error.contains(fix), "{word}: {error}");
    }
}
