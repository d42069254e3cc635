// SPDX-License-Identifier: GPL-2.0-or-later
// Traits, closures, iterators, hash maps: what Rust inlines deeply.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        format!("shape of {:.1}", self.area())
    }
}

struct Circle(f64);
struct Rect {
    w: f64,
    h: f64,
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        3.14159 * self.0 * self.0
    }
}

impl Shape for Rect {
    fn area(&self) -> f64 {
        self.w * self.h
    }
    fn name(&self) -> String {
        format!("{}x{}", self.w, self.h)
    }
}

fn count_words<'a>(text: &'a str) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace().filter(|w| w.len() > 1) {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

fn show<T: Display + Ord>(mut items: Vec<T>) -> String {
    items.sort();
    items.iter().map(|i| i.to_string()).collect::<Vec<_>>().join(",")
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let shapes: Vec<Box<dyn Shape>> = (1..20)
        .map(|i| -> Box<dyn Shape> {
            if i % 2 == 0 {
                Box::new(Circle(i as f64))
            } else {
                Box::new(Rect { w: i as f64, h: args.len() as f64 })
            }
        })
        .collect();
    let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
    for s in &shapes {
        *by_name.entry(s.name()).or_default() += s.area();
    }
    let words = args.join(" ");
    println!("{} {:?} {}", by_name.values().sum::<f64>(), count_words(&words), show(args));
}
