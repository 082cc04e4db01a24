//! Makes real components of the contract from a few lines of WebAssembly text.
//!
//! A core module is assembled around the given body of `list-page`, then encoded as a component of the WIT world, as
//! any guest toolchain does it.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const WIT: &str = include_str!("../../../adapters-wit/wit/v0.1/adapter.wit");

/// Where `list-page` of the template finds its answer: `ok(done(empty page))` unless the body writes another one.
/// +0 ok/err, +4 fetch/done, +8 list pointer, +12 list length, +28 session pointer, +32 session length.
pub const ANSWER: u32 = 4096;

/// A guest in the making.
pub struct Guest {
    pub name: &'static str,
    /// Statements of `list-page`, before it answers with [`ANSWER`].
    pub list: String,
    /// Further fields of the module: functions, tables, data, a start function.
    pub fields: String,
    /// Imports of the module, which come first.
    pub imports: String,
    pub memory: &'static str,
    /// Hosts it would like to reach.
    pub hosts: Vec<&'static str>,
    pub wit: String,
    /// WIT packages that `wit` uses.
    pub packages: Vec<&'static str>,
}

pub fn guest(list: impl Into<String>) -> Guest {
    Guest {
        name: "hostile",
        list: list.into(),
        fields: String::new(),
        imports: String::new(),
        memory: "16",
        hosts: vec![],
        wit: WIT.to_owned(),
        packages: vec![],
    }
}

/// A guest that does its job: an empty page.
pub fn good() -> Vec<u8> {
    Guest { name: "good", ..guest("") }.build()
}

/// A page of one row, by the addresses and lengths of its link and title.
pub fn one_row(url: (u32, u32), title: (u32, u32)) -> String {
    format!(
        "(i32.store (i32.const 8192) (i32.const {})) (i32.store (i32.const 8196) (i32.const {}))
         (i32.store (i32.const 8200) (i32.const {})) (i32.store (i32.const 8204) (i32.const {}))
         (i32.store (i32.const 4104) (i32.const 8192)) (i32.store (i32.const 4108) (i32.const 1))",
        url.0, url.1, title.0, title.1
    )
}

/// Requests with the given tags and links.
pub fn requests(list: &[(&str, &str)]) -> Guest {
    let mut fields = String::new();
    let mut stores = String::new();
    let mut text = 20_000;
    let mut put = |value: &str, fields: &mut String| {
        let at = text;
        fields.push_str(&format!("(data (i32.const {at}) \"{value}\")\n"));
        text += 64;
        (at, value.len())
    };
    for (index, (tag, url)) in list.iter().enumerate() {
        let at = 8192 + index * 44;
        for (offset, (pointer, length)) in [(0, put(tag, &mut fields)), (12, put(url, &mut fields))] {
            stores.push_str(&format!(
                "(i32.store (i32.const {}) (i32.const {pointer})) (i32.store (i32.const {}) (i32.const {length}))\n",
                at + offset,
                at + offset + 4
            ));
        }
    }
    let list = format!(
        "{stores} (i32.store8 (i32.const 4100) (i32.const 0))
         (i32.store (i32.const 4104) (i32.const 8192)) (i32.store (i32.const 4108) (i32.const {}))",
        list.len()
    );
    Guest { fields, ..guest(list) }
}

impl Guest {
    /// The core module.
    pub fn module(&self) -> Vec<u8> {
        let le = |values: &[u32]| -> String {
            values.iter().flat_map(|value| value.to_le_bytes()).map(|byte| format!("\\{byte:02x}")).collect()
        };
        let about = le(&[1024, self.name.len() as u32, 1124, 5, 1224, 17, 2304, self.hosts.len() as u32, 0]);
        // Pointer and length of each host, then their text.
        let mut at = 3072;
        let mut places = Vec::new();
        for host in &self.hosts {
            places.extend([at, host.len() as u32]);
            at += host.len() as u32;
        }
        let (places, hosts) = (le(&places), self.hosts.concat());
        let text = format!(
            r#"(module
            {imports}
            (memory (export "memory") {memory})
            (global $heap (mut i32) (i32.const 65536))
            (data (i32.const 1024) "{name}") (data (i32.const 1124) "1.0.0")
            (data (i32.const 1224) "{{\"type\":\"object\"}}")
            (data (i32.const 2048) "{about}")
            (data (i32.const 2304) "{places}") (data (i32.const 3072) "{hosts}")
            (data (i32.const {step}) "\01")
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
                (global.set $heap (i32.add (local.get $at) (local.get 3)))
                (local.get $at))
            (func (export "dibao:adapter/site@0.1.0#describe") (result i32) (i32.const 2048))
            (func (export "dibao:adapter/site@0.1.0#list-page")
                (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32 i32) (result i32)
                {list}
                (i32.const {ANSWER}))
            (func (export "dibao:adapter/site@0.1.0#detail") (param i32) (result i32) unreachable)
            {fields})"#,
            imports = self.imports,
            memory = self.memory,
            name = self.name,
            step = ANSWER + 4,
            list = self.list,
            fields = self.fields,
        );
        wat::parse_str(text).expect("the test's own text")
    }

    /// The component.
    pub fn build(&self) -> Vec<u8> {
        self.build_as("0.1.0")
    }

    /// The same under another version of the contract.
    pub fn build_as(&self, version: &str) -> Vec<u8> {
        let mut resolve = Resolve::default();
        for package in &self.packages {
            resolve.push_str("dependency.wit", package).expect("the test's own WIT");
        }
        let wit = self.wit.replace("@0.1.0", &format!("@{version}"));
        let package = resolve.push_str("adapter.wit", &wit).expect("the test's own WIT");
        let world = resolve.select_world(&[package], Some("adapter")).expect("the contract's world");
        let mut module = self.module();
        if version != "0.1.0" {
            // The names have the same length: patch them in place.
            let (from, to) = (b"@0.1.0".as_slice(), format!("@{version}"));
            while let Some(at) = module.windows(from.len()).position(|window| window == from) {
                module[at..at + from.len()].copy_from_slice(to.as_bytes());
            }
        }
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata");
        ComponentEncoder::default()
            .validate(true)
            .module(&module)
            .expect("a module of the world")
            .encode()
            .expect("component")
    }
}
